"""A web server with a memory for each user, in one PostgreSQL database.

    pip install 'memdir[anthropic]' fastapi uvicorn
    export MEMORIES=postgres://user:password@db.example.com/agents
    export MEMORY_KEY=base64:…                      # 32 bytes; leave it out for no encryption
    uvicorn server:app

docs/guides/many-users.md and docs/guides/servers-in-python.md explain it.
"""

from __future__ import annotations

import logging
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

from anthropic import AsyncAnthropic
from fastapi import Body, Depends, FastAPI, Header, HTTPException, Request
from fastapi.responses import JSONResponse

from memdir import AsyncMemory, AsyncMemoryTool, ErrorKind, RefusedError, StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

log = logging.getLogger("server")


def open_memory(namespace: str) -> Any:
    return AsyncMemory.open(
        os.environ["MEMORIES"],
        namespace=namespace,
        encryption_key=os.environ.get("MEMORY_KEY") or None,
    )


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    # Creates the tables of a new database. If the database is down, the server still starts, and
    # answers 503.
    try:
        async with await open_memory("health") as memory:
            await memory.read("/memories/none")
    except RefusedError:
        pass  # The file does not exist, so the database is available.
    except StoreError as error:
        log.warning("the database cannot be reached: %s", error)
    async with AsyncAnthropic() as client:
        app.state.client = client
        yield


app = FastAPI(lifespan=lifespan)


# The HTTP status for each kind of error.
STATUS: dict[ErrorKind, int] = {
    "not_found": 404,
    "exists": 409,
    "is_a_directory": 409,
    "not_a_directory": 409,
    "invalid": 400,
    "no_match": 400,
    "several_matches": 400,
    "not_text": 415,
    "read_only": 403,
    "permission_denied": 403,
    "fixed": 403,
    "too_large": 413,
    "full": 507,
    "sensitive": 403,
    "stale": 409,
    "changed": 409,
    "denied": 403,
    "busy": 503,
    "cancelled": 503,
    "unavailable": 503,
    "outcome_unknown": 500,
    "hook_failed": 500,
    "config": 500,
}


@app.exception_handler(RefusedError)
async def refused(request: Request, error: RefusedError) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, STATUS.get(error.kind, 500))


@app.exception_handler(StoreError)
async def unavailable(request: Request, error: StoreError) -> JSONResponse:
    """The database is down or busy. Only a request that changed nothing is worth another try."""
    log.error("%s %s: %s", request.method, request.url.path, error)
    if error.kind == "outcome_unknown":
        return JSONResponse({"detail": "The change may or may not have been made."}, 500)
    answer = {"detail": "The memory cannot be used now."}
    return JSONResponse(answer, 503, headers={"Retry-After": "5"})


async def user_id(authorization: Annotated[str, Header()]) -> str:
    """The user's id. Your own server checks a session or a token; this one trusts the client."""
    scheme, _, user = authorization.partition(" ")
    if scheme != "Bearer" or not user:
        raise HTTPException(401)
    return user


async def memory_of_user(user: Annotated[str, Depends(user_id)]) -> AsyncIterator[AsyncMemory]:
    """The user's memory, for the duration of the request."""
    async with await open_memory(f"user:{user}") as memory:
        yield memory


UserMemory = Annotated[AsyncMemory, Depends(memory_of_user)]


@app.post("/chat")
async def chat(memory: UserMemory, message: Annotated[str, Body(embed=True)]) -> dict[str, str]:
    """One question to Claude, who remembers this user."""
    runner = app.state.client.beta.messages.tool_runner(
        model="claude-sonnet-5-5",
        max_tokens=2048,
        messages=[{"role": "user", "content": message}],
        tools=[AsyncMemoryTool(memory)],
    )
    answer = await runner.until_done()
    return {"answer": "".join(block.text for block in answer.content if block.type == "text")}


@app.post("/tool")
async def tool(memory: UserMemory, call: dict[str, Any]) -> dict[str, Any]:
    """One tool call, for a conversation that runs elsewhere."""
    reply = await memory.execute(call)
    if isinstance(reply.cause, StoreError):
        raise reply.cause
    return {"content": reply.content, "is_error": reply.is_error}


@app.get("/file")
async def file(memory: UserMemory, path: str) -> dict[str, str]:
    """For a page of your own that shows users what is remembered."""
    return {"text": await memory.read(path)}


@app.delete("/memory")
async def forget(memory: UserMemory) -> dict[str, int]:
    """Erases everything of a user, including the history, at the user's request."""
    erased = await memory.erase()
    return {"files": erased.files, "versions": erased.versions}
