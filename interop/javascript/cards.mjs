// Signs and verifies cards with the SDK.
//
// Standard input is a JSON object of cases by name, each with a card and a
// private JWK; where the card has signatures it is verified, else it is signed.
// A line of standard output says for each what came of it: the signed card, or
// an error.

import { text } from 'node:stream/consumers';
import { AgentCard, generateAgentCardSignature, verifyAgentCardSignature } from '@a2a-js/sdk';

const maxError = 300;
console.debug = () => {}; // where the SDK tells about signatures, on standard output

async function tryCase({ card, key }) {
  const read = AgentCard.fromJSON(card);
  if (read.signatures?.length) {
    const { d, p, q, dp, dq, qi, ...publicKey } = key;
    await verifyAgentCardSignature(async () => publicKey)(read);
    return {};
  }
  const signed = await generateAgentCardSignature(key, { alg: key.alg, kid: key.kid, typ: 'JOSE' })(read);
  return { card: AgentCard.toJSON(signed) };
}

for (const [name, one] of Object.entries(JSON.parse(await text(process.stdin)))) {
  const result = await tryCase(one).catch((e) => ({ error: `${e.name}: ${e.message}`.slice(0, maxError) }));
  console.log(JSON.stringify({ case: name, ...result }));
}
