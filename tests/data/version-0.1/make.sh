#!/usr/bin/env bash
# Makes the data of this folder with a program of version 0.1.0 (commit 3330e17). README.md says what is in it.
#
# Usage: make.sh PROGRAM        needs Linux, root, bubblewrap, strace and PostgreSQL
#
# The program runs as on another machine: with another host name, machine id, boot id and other process ids.
set -euo pipefail

readonly MESSAGES=70

main() {
    program=$(realpath "$1")
    data=$(cd "$(dirname "$0")" && pwd)
    bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
    scratch=$(mktemp -d)
    trap 'stop_server; rm -rf "$scratch"' EXIT
    export LC_ALL=C
    umask 022
    start_server
    for name in sqlite postgres contexts; do
        rm -rf "/tmp/agents-0.1-$name"
        mkdir "/tmp/agents-0.1-$name"
        elsewhere "$name"
        pack "$name"
    done
    # Statements of later minor versions, which earlier ones do not know.
    "$bin/pg_dump" --no-owner --no-privileges "$url" | sed '/^\\\(un\)\?restrict /d' >"$data/postgres.sql"
    rm -rf /tmp/agents-0.1-{sqlite,postgres,contexts}
}

# ---- the place ----------------------------------------------------------------------------------------------------------

start_server() {
    chmod 755 "$scratch"
    install -d -o postgres "$scratch/server"
    as_postgres "$bin/initdb" -D "$scratch/server/data" -A trust -U postgres -E UTF8 --locale=C >"$scratch/initdb.log"
    port=$((20000 + RANDOM % 20000))
    as_postgres "$bin/pg_ctl" -D "$scratch/server/data" -w -l "$scratch/server/log" \
        -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=" start >"$scratch/start.log"
    url="postgres://postgres@127.0.0.1:$port/postgres?sslmode=disable"
}

stop_server() {
    as_postgres "$bin/pg_ctl" -D "$scratch/server/data" -m immediate stop >/dev/null || true
}

as_postgres() {
    (cd / && setpriv --reuid=postgres --regid=postgres --init-groups "$@")
}

# Runs `make_NAME` as on another machine.
elsewhere() {
    echo 0123456789abcdef0123456789abcdef >"$scratch/machine-id"
    echo 01234567-89ab-cdef-0123-456789abcdef >"$scratch/boot-id"
    bwrap --dev-bind / / --proc /proc --unshare-pid --unshare-uts --hostname version-0-1 \
        --ro-bind "$scratch/machine-id" /etc/machine-id \
        --ro-bind "$scratch/boot-id" /proc/sys/kernel/random/boot_id \
        -- "$BASH" "$data/make.sh" --inside "$1" "$program" "$url"
}

pack() {
    local folder="/tmp/agents-0.1-$1"
    for file in audit.jsonl audit.checkpoint; do
        [ ! -e "$folder/$file" ] || install -m 644 "$folder/$file" "$data/$1.$file"
        rm -f "$folder/$file"
    done
    tar -C /tmp --sort=name --owner=0 --group=0 --numeric-owner -cf - "agents-0.1-$1" | gzip -9n >"$data/$1.tar.gz"
}

# ---- inside -------------------------------------------------------------------------------------------------------------

inside() {
    place="/tmp/agents-0.1-$1"
    program=$2
    export CLEVERAGENTS_HOME="$place/home" USER=ana
    options=()
    [ "$1" != postgres ] || options=(-c "store.url=$3")
    cd "$place"
    case $1 in
        contexts) make_contexts ;;
        *) make_plans ;;
    esac
}

agents() {
    "$program" "$@" "${options[@]}"
}

fails() {
    if "$@" >/dev/null 2>&1; then echo "succeeded: $*"; exit 1; fi
}

# Kills the program when it begins the N-th system call of a name: cut_at CALL N WORD...
cut_at() {
    local call=$1 nth=$2
    shift 2
    set +e
    strace -f -qq -o /dev/null -e "trace=$call" -e "inject=$call:signal=SIGKILL:when=$nth" -- \
        "$program" "$@" "${options[@]}" >/dev/null 2>&1
    local code=$?
    set -e
    [ $code = 137 ] || { echo "not killed at $call $nth: $*, exit code $code"; exit 1; }
}

# Makes a plan over a root of its own, with three files: plan NAME
plan() {
    root="$place/roots/$1"
    mkdir -p "$root"
    printf 'one\ntwo\nthree\nfour\nfive\n' >"$root/text.txt"
    printf 'to be removed\n' >"$root/removed.txt"
    printf 'to be moved\n' >"$root/moved.txt"
    agents plan create --name "$1" --root "$root" >/dev/null
}

# Starts a changeset: start PLAN ACTOR
start() {
    changeset=$(agents changeset start "$1" --actor "$2")
}

# Records a change: record PATH OPTION...
record() {
    agents changeset record "$changeset" --path "$@" >/dev/null
}

# Records a text that has another line N: line N TEXT
line() {
    sed "$1s/.*/$2/" "$root/text.txt" | record text.txt --content -
}

seal() {
    agents changeset seal "$changeset" >/dev/null
}

# Two actors who change different lines of one file, and other files.
two_actors() {
    start "$1" ana
    line 1 ONE
    record moved.txt --rename-to folder/moved.txt
    seal
    start "$1" bob
    line 5 FIVE
    record removed.txt --delete
    printf 'made by bob\n' | record made.txt --content -
    seal
}

make_plans() {
    plan queued
    plan running
    start running ana
    line 1 ONE

    # Every kind of change, by three actors.
    plan ready
    two_actors ready
    start ready carl
    printf '\x00\x01\xff\xfe' | record binary --content -
    printf '#!/bin/sh\n' | record script.sh --content - --mode 755
    record link --symlink text.txt
    printf 'a line of a long file\n%.0s' {1..140000} | record big.txt --content -
    seal

    plan clash
    for actor in ana bob; do start clash "$actor"; line 3 "three of $actor"; seal; done
    plan resolved
    for actor in ana bob; do start resolved "$actor"; line 3 "three of $actor"; seal; done
    agents plan resolve resolved text.txt --take bob >/dev/null

    plan partly
    two_actors partly
    agents plan apply partly --actor ana >/dev/null

    plan applied
    two_actors applied
    agents plan apply applied >/dev/null
    plan undone
    two_actors undone
    agents plan apply undone >/dev/null
    agents plan undo undone --yes >/dev/null
    plan redone
    two_actors redone
    agents plan apply redone >/dev/null
    local undo
    undo=$(agents plan undo redone --yes | sed -n 's/.*, as plan //p')
    agents plan undo "$undo" --yes >/dev/null
    plan part-undone
    two_actors part-undone
    agents plan apply part-undone >/dev/null
    agents plan undo part-undone --actor ana --yes >/dev/null

    # A person has changed a line that the plan changes.
    plan drifted
    two_actors drifted
    sed -i '1s/.*/of a person/' "$root/text.txt"
    fails agents plan apply drifted

    plan cancelled
    start cancelled ana
    line 1 ONE
    agents changeset abandon "$changeset" >/dev/null
    agents plan cancel cancelled >/dev/null
    plan removed
    two_actors removed
    agents plan apply removed >/dev/null
    agents plan clean removed --yes >/dev/null

    make_failed_run
    agents audit export >audit.jsonl
    agents audit checkpoint --out audit.checkpoint >/dev/null
    make_cut_run
    make_cut_applies
}

# A run in which a node fails until the file `go` is there.
make_failed_run() {
    root="$place/roots/failed"
    mkdir -p "$root"
    cat >failed.toml <<END
name = "failed"
[roots.main]
path = "roots/failed"
[nodes.first]
run = "echo first | tee first.txt"
[nodes.second]
run = "test -e $place/go && echo second > second.txt"
needs = ["first"]
END
    fails agents run failed.toml
}

# A run that is killed while its second node waits for the file `go`.
make_cut_run() {
    root="$place/roots/cut-run"
    mkdir -p "$root"
    printf 'base\n' >"$root/base.txt"
    cat >cut-run.toml <<END
name = "cut-run"
[roots.main]
path = "roots/cut-run"
[nodes.first]
run = "echo first | tee first.txt"
[nodes.second]
run = "echo \$\$ > second.txt; until [ -e $place/go ]; do sleep 0.05; done; echo second > second.txt"
needs = ["first"]
[nodes.third]
run = "cat base.txt first.txt second.txt > third.txt"
needs = ["second"]
END
    "$program" run cut-run.toml "${options[@]}" >/dev/null 2>&1 &
    local run=$! actor=
    until [ -n "$actor" ]; do
        sleep 0.05
        actor=$(cat home/runs/*/nodes/second/1/sandbox/tree/second.txt 2>/dev/null || true)
    done
    # Until what it notices while the actor runs is noticed.
    sleep 1
    kill -KILL "$run"
    wait "$run" 2>/dev/null || true
    kill -KILL -- "-$actor"
}

# Applies that are killed behind the commit point, when some files are published and others are not.
make_cut_applies() {
    plan cut-one
    printf 'old\n' | tee "$root/a.txt" "$root/z.txt" >/dev/null
    two_actors cut-one
    start cut-one carl
    for file in a.txt z.txt; do printf 'new\n' | record $file --content -; done
    seal
    cut_at renameat2 2 plan apply cut-one
    [ -e "$root/.cleveragents/.txn/journal" ]
    [ "$(cat "$root/a.txt" "$root/z.txt")" = $'new\nold' ]

    local roots=("$place/roots/cut-two-a" "$place/roots/cut-two-b")
    mkdir -p "${roots[@]}"
    agents plan create --name cut-two --root "${roots[0]}" --root "${roots[1]}" >/dev/null
    for root in "${roots[@]}"; do printf 'old\n' | tee "$root/a.txt" "$root/b.txt" >/dev/null; done
    start cut-two ana
    for root in "${roots[@]}"; do
        for file in a.txt b.txt; do printf 'new\n' | record $file --root "$root" --content -; done
    done
    seal
    cut_at renameat2 4 plan apply cut-two
    [ -e "${roots[0]}/.cleveragents/.txn/journal" ] && [ -e "${roots[1]}/.cleveragents/.txn/pointer" ]
    [ "$(cat "${roots[1]}/a.txt" "${roots[1]}/b.txt")" = $'new\nold' ]
}

make_contexts() {
    agents context create talk >/dev/null
    agents context append talk --role system 'You are kind.' >/dev/null
    agents context append talk --role user $'Hello,\n"world" \xc3\xa9' >/dev/null
    agents context append talk --role assistant 'Hello.' >/dev/null
    agents context state set talk '{"step":3}' >/dev/null
    agents context global set talk '{"project":"demo"}' >/dev/null
    agents context fork talk fork >/dev/null
    agents context append fork --role user 'Only in the fork.' >/dev/null

    agents context create rewound >/dev/null
    for n in $(seq "$MESSAGES"); do printf '{"role":"user","content":"message %s"}\n' "$n"; done |
        agents context append rewound --jsonl - >/dev/null
    agents context rewind rewound --to "$((MESSAGES - 1))" >/dev/null

    # Of an older tool: one array.
    mkdir -p home/contexts/array
    printf '[\n  {"role": "user", "content": "one", "timestamp": "2025-01-01T10:00:00"},\n  {"role": "assistant", "content": "two"}\n]' \
        >home/contexts/array/messages.json
    printf '{"step": 1}' >home/contexts/array/state.json
    printf '{"created_at": "2025-01-01T10:00:00", "owner": "ada"}' >home/contexts/array/metadata.json

    # Killed behind the commit point, before a file has the message.
    agents context create cut >/dev/null
    agents context append cut --role user first >/dev/null
    cut_at pwrite64 4 context append cut --role user second
    grep -q second home/contexts/cut/.txn/journal
    fails grep -q second home/contexts/cut/messages.jsonl
}

if [ "${1-}" = --inside ]; then
    shift
    inside "$@"
else
    main "$@"
fi
