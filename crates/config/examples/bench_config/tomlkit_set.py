"""What people write today, as a peer of `agents config set`: lock, read with tomlkit, change, write a new file, sync, rename, sync the folder."""

import fcntl
import os
import sys

import tomlkit

path, table, name, value = sys.argv[1:]
with open(path + ".lock", "a") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    with open(path, encoding="utf-8") as file:
        document = tomlkit.parse(file.read())
    section = document
    for part in table.split("."):
        section = section[part]
    section[name] = int(value)
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        file.write(tomlkit.dumps(document))
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".tmp", path)
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
