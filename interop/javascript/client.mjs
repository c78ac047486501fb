// The SDK's client meets the test agent cell by cell, and says of each what did
// not work.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { ListTasksRequest, Role, TaskState, taskStateToJSON } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import {
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors';

import { message, part, textOf } from './messages.mjs';

const cellLimit = 20_000; // milliseconds
const ended = [
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
];

// Caller makes the calls of one cell.
class Caller {
  #client;
  #options;

  constructor(client, signal) {
    this.#client = client;
    this.#options = { signal };
  }

  sendMessage(params) {
    return this.#client.sendMessage(params, this.#options);
  }

  sendMessageStream(params) {
    return this.#client.sendMessageStream(params, this.#options);
  }

  subscribe(id) {
    return this.#client.resubscribeTask({ tenant: '', id }, this.#options);
  }

  getTask(id) {
    return this.#client.getTask({ tenant: '', id, historyLength: undefined }, this.#options);
  }

  listTasks(params) {
    return this.#client.listTasks(ListTasksRequest.fromJSON(params), this.#options);
  }

  cancelTask(id) {
    return this.#client.cancelTask({ tenant: '', id, metadata: undefined }, this.#options);
  }

  pause() {
    return pause(20, undefined, this.#options);
  }

  // send sends a message and expects a task in one of the states.
  async send(params, ...states) {
    const task = await this.sendMessage(params);
    assert.ok('status' in task, 'the answer is no task');
    assert.ok(states.includes(task.status.state), `the task is ${taskStateToJSON(task.status.state)}`);
    return task;
  }

  complete(params) {
    return this.send(params, TaskState.TASK_STATE_COMPLETED);
  }

  // begin sends a message and does not wait for the work.
  begin(text) {
    const configuration = { returnImmediately: true, acceptedOutputModes: [], taskPushNotificationConfig: undefined };
    return this.send(
      { ...ask(text), configuration },
      TaskState.TASK_STATE_SUBMITTED,
      TaskState.TASK_STATE_WORKING,
    );
  }
}

function ask(text, { parts = [], ...more } = {}) {
  return {
    tenant: '',
    message: message(Role.ROLE_USER, [part('text', text), ...parts], more),
    configuration: undefined,
    metadata: undefined,
  };
}

async function sendBlocking(agent) {
  const task = await agent.complete(ask('hello, world'));
  assert.equal(textOf(task.artifacts.flatMap(({ parts }) => parts)), 'hello, world');
}

async function pollTask(agent) {
  let task = await agent.begin('stream:3:500');
  while (!ended.includes(task.status.state)) {
    await agent.pause();
    task = await agent.getTask(task.id);
  }
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
}

async function stream(agent) {
  const events = [];
  for await (const { payload } of agent.sendMessageStream(ask('tck-stream-chunked'))) {
    events.push(payload);
  }
  const chunks = events.filter(({ $case }) => $case === 'artifactUpdate');
  const last = events.at(-1);
  assert.equal(events[0].$case, 'task');
  assert.equal(last.$case, 'statusUpdate');
  assert.equal(last.value.status.state, TaskState.TASK_STATE_COMPLETED);
  assert.ok(chunks.length >= 3, `${chunks.length} artifact events`);
  assert.equal(textOf(chunks.flatMap(({ value }) => value.artifact.parts)), 'piece-1 piece-2 piece-3');
}

async function subscribe(agent) {
  const { id } = await agent.begin('tck-cancel');
  const events = [];
  for await (const { payload } of agent.subscribe(id)) {
    events.push(payload);
    if (payload.$case === 'task') {
      await agent.cancelTask(id);
    }
  }
  const [first, ...rest] = events;
  assert.equal(first.$case, 'task');
  assert.ok(rest.every(({ $case }) => $case !== 'task'), 'a second snapshot');
  const statuses = rest.filter(({ $case }) => $case === 'statusUpdate');
  assert.equal(statuses.at(-1)?.value.status.state, TaskState.TASK_STATE_CANCELED);
}

async function subscribeEnded(agent) {
  const { id } = await agent.complete(ask('hello'));
  await assert.rejects(agent.subscribe(id).next(), UnsupportedOperationError);
}

async function listPages(agent) {
  const contextId = randomUUID();
  const want = new Set();
  for (let i = 0; i < 3; i++) {
    want.add((await agent.complete(ask('hello', { contextId }))).id);
  }
  const got = new Set();
  const sizes = [];
  let pageToken = '';
  do {
    const page = await agent.listTasks({ contextId, pageSize: 2, pageToken });
    assert.equal(page.totalSize, 3);
    page.tasks.forEach(({ id }) => got.add(id));
    sizes.push(page.tasks.length);
    pageToken = page.nextPageToken;
  } while (pageToken && sizes.length < 3);
  assert.deepEqual(sizes, [2, 1]);
  assert.deepEqual(got, want);
}

async function cancel(agent) {
  const { id } = await agent.begin('tck-cancel');
  const canceled = await agent.cancelTask(id);
  assert.equal(canceled.status.state, TaskState.TASK_STATE_CANCELED);
  await assert.rejects(agent.cancelTask(id), TaskNotCancelableError);
}

async function inputRequired(agent) {
  const asked = await agent.send(ask('tck-multi-turn'), TaskState.TASK_STATE_INPUT_REQUIRED);
  const done = await agent.complete(ask('done', { taskId: asked.id, contextId: asked.contextId }));
  assert.equal(done.id, asked.id);
}

async function messageAnswer(agent) {
  const reply = await agent.sendMessage(ask('hello', { messageId: `tck-message-response-${randomUUID()}` }));
  assert.ok('messageId' in reply, 'the answer is no message');
  assert.equal(textOf(reply.parts), 'Direct message response');
}

async function filesReceived(agent) {
  const text = { filename: 'output.txt', mediaType: 'text/plain' };
  const wanted = {
    'tck-artifact-file-url-': part('url', 'https://example.com/output.txt', text),
    'tck-artifact-data-': part('data', { key: 'value', count: 42 }),
    'tck-artifact-file-': part('raw', Buffer.from('Generated text content'), text),
  };
  for (const [prefix, want] of Object.entries(wanted)) {
    const { artifacts } = await agent.complete(ask('hello', { messageId: prefix + randomUUID() }));
    assert.equal(artifacts.length, 1, `${prefix}: ${artifacts.length} artifacts`);
    assert.deepEqual(artifacts[0].parts, [want]);
  }
}

async function filesSent(agent) {
  const content = Buffer.alloc(4000, Buffer.from([0, 1, 0xfe, 0xff]));
  const request = ask('hello', {
    parts: [
      part('raw', content, { filename: 'a.txt', mediaType: 'text/plain' }),
      part('data', { n: 1.5, list: [null, 'x'] }),
    ],
  });
  const { id } = await agent.complete(request);
  const { history } = await agent.getTask(id);
  assert.deepEqual(history[0]?.parts, request.message.parts);
}

async function unknownTask(agent) {
  await assert.rejects(agent.getTask('no-such-task'), TaskNotFoundError);
}

async function versionRefused(agent) {
  await assert.rejects(agent.sendMessage(ask('hello')), VersionNotSupportedError);
}

async function unknownFields(agent) {
  const { id } = await agent.complete(ask('hello'));
  await agent.getTask(id);
}

// fetchInTime is how cards are fetched: the resolver takes no signal.
function fetchInTime(url, init) {
  return fetch(url, { ...init, signal: AbortSignal.timeout(cellLimit) });
}

const factory = new ClientFactory({
  transports: [new JsonRpcTransportFactory()],
  cardResolver: new DefaultAgentCardResolver({ fetchImpl: fetchInTime }),
});

async function tryCell(name, client, run) {
  let error = '';
  try {
    await run(new Caller(client, AbortSignal.timeout(cellLimit)));
  } catch (e) {
    error = `${e.name}: ${e.message}`.replaceAll(/\s+/g, ' ').slice(0, 500);
  }
  console.log(JSON.stringify({ cell: name, error }));
}

const address = { type: 'string' };
const { values } = parseArgs({ options: { agent: address, refused: address, later: address } });
const agent = await factory.createFromUrl(values.agent);
const cells = {
  'send blocking': sendBlocking,
  'returnImmediately then poll': pollTask,
  stream,
  subscribe,
  'subscribe to an ended task': subscribeEnded,
  'list pages': listPages,
  cancel,
  'input-required round trip': inputRequired,
  'message instead of task': messageAnswer,
  'files and data received': filesReceived,
  'files and data sent': filesSent,
  'unknown task': unknownTask,
};
for (const [name, run] of Object.entries(cells)) {
  await tryCell(name, agent, run);
}
await tryCell('version refusal', await factory.createFromUrl(values.refused), versionRefused);
await tryCell('unknown fields', await factory.createFromUrl(values.later), unknownFields);
