// What both programs build messages from. The SDK's types are written out in
// full: an absent string is an empty one, an absent object is undefined.
import { randomUUID } from 'node:crypto';

export function part($case, value, more) {
  return { content: { $case, value }, metadata: undefined, filename: '', mediaType: '', ...more };
}

export function message(role, parts, more) {
  return {
    messageId: randomUUID(),
    contextId: '',
    taskId: '',
    role,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
}

export function textOf(parts) {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}
