"""Peers of a save: makes a conversation, then saves as often as each line of its input says, and answers with the seconds that took."""

import asyncio
import sys
import time

TEXT = "m" * 1024


def message():
    return {"role": "user", "content": TEXT}


def session(path, count):
    """The OpenAI Agents SDK's SQLiteSession: one item added."""
    from agents import SQLiteSession

    loop = asyncio.new_event_loop()
    kept = SQLiteSession("chat", path)
    if count:
        loop.run_until_complete(kept.add_items([message() for _ in range(count)]))

    async def saves(times):
        for _ in range(times):
            await kept.add_items([message()])

    return lambda times: loop.run_until_complete(saves(times))


def saver(path, count):
    """LangGraph's SqliteSaver: a checkpoint with all messages, as a graph with a list of messages makes one at every step."""
    import sqlite3

    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.base.id import uuid6
    from langgraph.checkpoint.sqlite import SqliteSaver

    kept = SqliteSaver(sqlite3.connect(path, check_same_thread=False))
    kept.setup()
    messages = [message() for _ in range(count)]
    config = {"configurable": {"thread_id": "chat", "checkpoint_ns": ""}}

    def saves(times):
        nonlocal config
        for _ in range(times):
            messages.append(message())
            checkpoint = empty_checkpoint()
            checkpoint["id"] = str(uuid6())
            checkpoint["channel_values"] = {"messages": messages}
            version = str(len(messages))
            checkpoint["channel_versions"] = {"messages": version}
            metadata = {"source": "loop", "step": len(messages)}
            config = kept.put(config, checkpoint, metadata, {"messages": version})

    return saves


def main():
    kind, path, count = sys.argv[1:]
    saves = {"session": session, "saver": saver}[kind](path, int(count))
    print("ready", flush=True)
    for line in sys.stdin:
        begun = time.perf_counter()
        saves(int(line))
        print(time.perf_counter() - begun, flush=True)


main()
