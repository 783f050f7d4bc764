"""A process with a memory that it keeps open: it reads one JSON command a line, and answers with one line."""

import json
import sys

from memdir import MemdirError, Memory

memory = Memory(sys.argv[1], search_keep="--keep" in sys.argv)
for line in sys.stdin:
    name, *given = json.loads(line)
    try:
        if name == "search":
            hits = memory.search(given[0], limit=1000).hits
            answer = [
                [hit.path, round(hit.score, 9), [p.text for p in hit.passages]]
                for hit in hits
            ]
        else:
            reply = memory.execute({"command": name, **given[0]})
            answer = not reply.is_error
    except MemdirError as error:
        answer = str(error)
    print(json.dumps(answer), flush=True)
