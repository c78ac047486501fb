// An agent served by the SDK: its request handler, its store in memory and its
// Express handlers. It ends with its standard input.
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';

import { AGENT_CARD_PATH, Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

import { message, part, textOf } from './messages.mjs';

// Executor plays the first text of a message. A task that says gated goes on
// once another says open, and one that says wait does not until it is canceled.
class Executor {
  #gate = new EventEmitter();
  #open = new Map(); // by task id, until the task has ended

  async execute(turn, bus) {
    const { taskId, contextId, task, userMessage } = turn;
    const [first, ...rest] = userMessage.parts;
    const text = textOf([first]);
    if (text === 'message') {
      bus.publish(AgentEvent.message(message(Role.ROLE_AGENT, [part('text', 'no task')], { contextId })));
      return;
    }
    const stop = new AbortController();
    this.#open.set(taskId, { contextId, stop });
    // The SDK asks for a task as the first event of each turn.
    bus.publish(AgentEvent.task(task ? { ...task, status: status(TaskState.TASK_STATE_WORKING) } : submitted(turn)));
    bus.publish(statusUpdate(taskId, contextId, TaskState.TASK_STATE_WORKING));
    switch (text) {
      case 'ask':
        bus.publish(statusUpdate(taskId, contextId, TaskState.TASK_STATE_INPUT_REQUIRED));
        return;
      case 'wait':
        await once(stop.signal, 'abort');
        return;
      case 'gated':
        // Nothing is awaited before this: the task waits before anybody knows it.
        try {
          await once(this.#gate, 'open', { signal: stop.signal });
        } catch {
          return; // canceled
        }
        break;
      case 'open':
        this.#gate.emit('open');
        break;
      case 'chunks': {
        const artifactId = randomUUID();
        ['piece-1 ', 'piece-2 ', 'piece-3'].forEach((piece, i) => {
          bus.publish(artifactUpdate(turn, artifactId, [part('text', piece)], i > 0, i === 2));
        });
        break;
      }
      default: {
        const parts = text.startsWith('parts') ? rest : [part('text', text)];
        bus.publish(artifactUpdate(turn, randomUUID(), parts, false, true));
      }
    }
    this.#open.delete(taskId);
    bus.publish(statusUpdate(taskId, contextId, TaskState.TASK_STATE_COMPLETED));
  }

  async cancelTask(taskId, bus) {
    const open = this.#open.get(taskId);
    if (open === undefined) {
      return; // it has just ended
    }
    this.#open.delete(taskId);
    bus.publish(statusUpdate(taskId, open.contextId, TaskState.TASK_STATE_CANCELED));
    open.stop.abort();
  }
}

function status(state) {
  return { state, message: undefined, timestamp: new Date().toISOString() };
}

function submitted({ taskId, contextId, userMessage }) {
  return {
    id: taskId,
    contextId,
    status: status(TaskState.TASK_STATE_SUBMITTED),
    artifacts: [],
    history: [userMessage],
    metadata: undefined,
  };
}

function statusUpdate(taskId, contextId, state) {
  return AgentEvent.statusUpdate({ taskId, contextId, status: status(state), metadata: undefined });
}

function artifactUpdate({ taskId, contextId }, artifactId, parts, append, lastChunk) {
  const artifact = { artifactId, name: '', description: '', parts, metadata: undefined, extensions: [] };
  return AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk, metadata: undefined });
}

function cardOf(address) {
  return {
    name: 'Peer',
    description: 'An agent of the SDK.',
    version: '1.0.0',
    supportedInterfaces: [{ url: `${address}/invoke`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
    provider: undefined,
    capabilities: { streaming: true, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: 'echo',
        name: 'Echo',
        description: 'Says it again.',
        tags: ['text'],
        examples: [],
        inputModes: [],
        outputModes: [],
        securitySchemes: {},
        securityRequirements: [],
      },
    ],
    signatures: [],
  };
}

const app = express();
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = `http://127.0.0.1:${server.address().port}`;
const requestHandler = new DefaultRequestHandler(cardOf(address), new InMemoryTaskStore(), new Executor());
app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/invoke', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
console.log(`Serving ${address}`);

process.stdin.resume().once('end', () => {
  server.close();
  server.closeAllConnections();
});
