"""What the SDK's client does with the test agent, cell by cell.

A cell raises what went wrong. Names, messages and demands are those of
../partner/goclient_test.go.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from uuid import uuid4

from a2a.client import Client
from a2a.helpers import (
    get_artifact_text,
    get_message_text,
    new_data_part,
    new_message,
    new_raw_part,
    new_text_part,
    new_url_part,
)
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskState,
)
from a2a.utils.errors import (
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
    VersionNotSupportedError,
)

TERMINAL = {
    TaskState.TASK_STATE_COMPLETED,
    TaskState.TASK_STATE_FAILED,
    TaskState.TASK_STATE_CANCELED,
    TaskState.TASK_STATE_REJECTED,
}


class Unexpected(Exception):
    """An answer that is not what the cell is about."""


@dataclass
class Caller:
    """The SDK's client for one agent.

    Whether a message is sent with SendMessage or SendStreamingMessage is a
    matter of its configuration, so there are two of them.
    """

    plain: Client
    streaming: Client

    async def answer(self, request: SendMessageRequest) -> StreamResponse:
        """Sends a message and returns the only answer."""
        answers = [a async for a in self.plain.send_message(request)]
        expect('number of answers', 1, len(answers))
        return answers[0]

    async def send(self, request: SendMessageRequest, *states: int) -> Task:
        """Sends a message and expects a task in one of the states."""
        answer = await self.answer(request)
        expect('answer', 'task', answer.WhichOneof('payload'))
        if answer.task.status.state not in states:
            raise Unexpected(f'task is {state_name(answer.task)}')
        return answer.task

    async def begin(self, text: str) -> Task:
        """Sends a message and does not wait for the work."""
        request = ask(text)
        request.configuration.CopyFrom(
            SendMessageConfiguration(return_immediately=True)
        )
        return await self.send(
            request,
            TaskState.TASK_STATE_SUBMITTED,
            TaskState.TASK_STATE_WORKING,
        )

    async def complete(self, request: SendMessageRequest) -> Task:
        """Sends a message and expects a completed task."""
        return await self.send(request, TaskState.TASK_STATE_COMPLETED)

    async def get(self, task: Task) -> Task:
        return await self.plain.get_task(GetTaskRequest(id=task.id))

    async def cancel(self, task: Task) -> Task:
        return await self.plain.cancel_task(CancelTaskRequest(id=task.id))

    def subscribe(self, task: Task) -> AsyncIterator[StreamResponse]:
        return self.streaming.subscribe(SubscribeToTaskRequest(id=task.id))


Cell = Callable[[Caller], Awaitable[None]]


def ask(text: str, *parts: Part) -> SendMessageRequest:
    message = new_message([new_text_part(text), *parts], role=Role.ROLE_USER)
    return SendMessageRequest(message=message)


def expect(what: str, want: object, got: object) -> None:
    if want != got:
        raise Unexpected(f'{what}: {got!r}, want {want!r}')


async def expect_error(error: type[Exception], call: Awaitable) -> None:
    try:
        answer = await call
    except error:
        return
    raise Unexpected(f'no {error.__name__}, but {answer!r}')


def state_name(task: Task) -> str:
    return TaskState.Name(task.status.state)


def artifact_text(task: Task) -> str:
    return ''.join(get_artifact_text(a, '') for a in task.artifacts)


async def send_blocking(caller: Caller) -> None:
    task = await caller.complete(ask('hello, world'))
    expect('artifact', 'hello, world', artifact_text(task))


async def poll(caller: Caller) -> None:
    task = await caller.begin('stream:3:500')
    while task.status.state not in TERMINAL:
        await asyncio.sleep(0.02)
        task = await caller.get(task)
    expect('state', 'TASK_STATE_COMPLETED', state_name(task))


async def stream(caller: Caller) -> None:
    kinds: list[str | None] = []
    chunks: list[str] = []
    state = None
    async for event in caller.streaming.send_message(ask('tck-stream-chunked')):
        kinds.append(event.WhichOneof('payload'))
        if event.HasField('artifact_update'):
            chunks.append(get_artifact_text(event.artifact_update.artifact, ''))
        elif event.HasField('status_update'):
            state = event.status_update.status.state
    if not kinds:
        raise Unexpected('no events')
    expect('first event', 'task', kinds[0])
    expect('last event', 'status_update', kinds[-1])
    expect('state', TaskState.TASK_STATE_COMPLETED, state)
    if len(chunks) < 3:
        raise Unexpected(f'{len(chunks)} artifact events, want 3')
    expect('text', 'piece-1 piece-2 piece-3', ''.join(chunks))


async def subscribe(caller: Caller) -> None:
    task = await caller.begin('tck-cancel')
    seen: list[str] = []
    async for event in caller.subscribe(task):
        if event.HasField('task'):
            if seen:
                raise Unexpected('a second snapshot')
            seen.append('snapshot')
            await caller.cancel(task)
        elif event.HasField('status_update'):
            seen.append(TaskState.Name(event.status_update.status.state))
    if len(seen) < 2:
        raise Unexpected(f'events {seen}')
    expect('first event', 'snapshot', seen[0])
    expect('last event', 'TASK_STATE_CANCELED', seen[-1])


async def subscribe_ended(caller: Caller) -> None:
    task = await caller.complete(ask('hello'))

    async def events() -> list[StreamResponse]:
        return [e async for e in caller.subscribe(task)]

    await expect_error(UnsupportedOperationError, events())


async def list_pages(caller: Caller) -> None:
    context_id = str(uuid4())
    want = set()
    for _ in range(3):
        request = ask('hello')
        request.message.context_id = context_id
        want.add((await caller.complete(request)).id)
    request = ListTasksRequest(context_id=context_id, page_size=2)
    got, sizes = set(), []
    while len(sizes) <= 3:
        page = await caller.plain.list_tasks(request)
        expect('total', 3, page.total_size)
        sizes.append(len(page.tasks))
        got.update(task.id for task in page.tasks)
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
    expect('pages', [2, 1], sizes)
    expect('tasks', want, got)


async def cancel(caller: Caller) -> None:
    task = await caller.cancel(await caller.begin('tck-cancel'))
    expect('state', 'TASK_STATE_CANCELED', state_name(task))
    await expect_error(TaskNotCancelableError, caller.cancel(task))


async def input_required(caller: Caller) -> None:
    asked = await caller.send(
        ask('tck-multi-turn'), TaskState.TASK_STATE_INPUT_REQUIRED
    )
    request = ask('done')
    request.message.task_id = asked.id
    request.message.context_id = asked.context_id
    done = await caller.complete(request)
    expect('task', asked.id, done.id)


async def message(caller: Caller) -> None:
    request = ask('hello')
    request.message.message_id = f'tck-message-response-{uuid4()}'
    answer = await caller.answer(request)
    expect('answer', 'message', answer.WhichOneof('payload'))
    expect('reply', 'Direct message response', get_message_text(answer.message))


async def files_received(caller: Caller) -> None:
    wanted = {
        'tck-artifact-file-url-': new_url_part(
            'https://example.com/output.txt', 'text/plain', 'output.txt'
        ),
        'tck-artifact-data-': new_data_part({'key': 'value', 'count': 42}),
        'tck-artifact-file-': new_raw_part(
            b'Generated text content', 'text/plain', 'output.txt'
        ),
    }
    for prefix, part in wanted.items():
        request = ask('hello')
        request.message.message_id = f'{prefix}{uuid4()}'
        task = await caller.complete(request)
        expect(prefix, [[part]], [list(a.parts) for a in task.artifacts])


async def files_sent(caller: Caller) -> None:
    request = ask(
        'hello',
        new_raw_part(b'\x00\x01\xfe\xff' * 1000, 'text/plain', 'a.txt'),
        new_data_part({'n': 1.5, 'list': [None, 'x']}),
    )
    stored = await caller.get(await caller.complete(request))
    if not stored.history:
        raise Unexpected('no history')
    if list(stored.history[0].parts) != list(request.message.parts):
        raise Unexpected('the message in the history is another')


async def unknown_task(caller: Caller) -> None:
    await expect_error(TaskNotFoundError, caller.get(Task(id='no-such-task')))


async def version_refusal(caller: Caller) -> None:
    await expect_error(VersionNotSupportedError, caller.answer(ask('hello')))


async def unknown_fields(caller: Caller) -> None:
    await caller.get(await caller.complete(ask('hello')))
