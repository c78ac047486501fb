"""Serves an agent written with the SDK until standard input ends."""

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator

import uvicorn
from a2a.helpers import (
    new_task_from_user_message,
    new_text_message,
    new_text_part,
)
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from a2a.utils.constants import PROTOCOL_VERSION_1_0, TransportProtocol
from starlette.applications import Starlette

RPC_PATH = '/invoke'
SHUTDOWN_SECONDS = 2


class Executor(AgentExecutor):
    """Does what the executor of ../partner/peer_test.go does.

    It plays the first text of a message. A task that says gated goes on once
    another says open.
    """

    def __init__(self) -> None:
        self._gate = asyncio.Semaphore(0)

    async def execute(
        self, context: RequestContext, event_queue: EventQueue
    ) -> None:
        message = context.message
        text = message.parts[0].text
        if text == 'message':
            await event_queue.enqueue_event(new_text_message('no task'))
            return
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(message))
        task = TaskUpdater(event_queue, context.task_id, context.context_id)
        await task.start_work()
        match text:
            case 'ask':
                await task.requires_input()
                return
            case 'wait':
                await asyncio.Event().wait()
            case 'gated':
                await self._gate.acquire()
            case 'open':
                self._gate.release()
            case 'chunks':
                for piece in ('piece-1 ', 'piece-2 ', 'piece-3'):
                    await task.add_artifact(
                        [new_text_part(piece)],
                        artifact_id='chunks',
                        append=piece != 'piece-1 ',
                    )
            case _ if text.startswith('parts'):
                await task.add_artifact(list(message.parts[1:]))
            case _:
                await task.add_artifact([new_text_part(text)])
        await task.complete()

    async def cancel(
        self, context: RequestContext, event_queue: EventQueue
    ) -> None:
        task = TaskUpdater(event_queue, context.task_id, context.context_id)
        await task.cancel()


def agent_card(url: str) -> AgentCard:
    return AgentCard(
        name='Peer',
        description='An agent of the SDK.',
        version='1.0.0',
        supported_interfaces=[
            AgentInterface(
                url=url + RPC_PATH,
                protocol_binding=TransportProtocol.JSONRPC,
                protocol_version=PROTOCOL_VERSION_1_0,
            )
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[
            AgentSkill(
                id='echo',
                name='Echo',
                description='Says it again.',
                tags=['text'],
            )
        ],
    )


def application(card: AgentCard) -> Starlette:
    handler = DefaultRequestHandler(
        agent_executor=Executor(),
        task_store=InMemoryTaskStore(),
        agent_card=card,
    )

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await handler.aclose()

    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, RPC_PATH),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


async def main() -> None:
    # It listens from here on, so that the address is known before the card is
    # written; a client that is early waits in the backlog.
    with socket.create_server(('127.0.0.1', 0)) as listener:
        url = f'http://127.0.0.1:{listener.getsockname()[1]}'
        server = uvicorn.Server(
            uvicorn.Config(
                application(agent_card(url)),
                log_level='warning',
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        print('Serving', url, flush=True)
        await asyncio.to_thread(sys.stdin.buffer.read)
        server.should_exit = True
        await serving


if __name__ == '__main__':
    asyncio.run(main())
