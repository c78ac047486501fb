"""Lets the SDK's client meet the test agent, and prints a line per cell."""

import argparse
import asyncio
import json

import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory

import cells

CELL_SECONDS = 20
MAX_ERROR = 300


async def dial(agent: str, http: httpx.AsyncClient) -> cells.Caller:
    card = await A2ACardResolver(http, agent).get_agent_card()

    def client(streaming: bool) -> Client:
        config = ClientConfig(streaming=streaming, httpx_client=http)
        return ClientFactory(config).create(card)

    return cells.Caller(plain=client(False), streaming=client(True))


async def run(name: str, cell: cells.Cell, caller: cells.Caller) -> None:
    error = ''
    try:
        async with asyncio.timeout(CELL_SECONDS):
            await cell(caller)
    except Exception as e:  # whatever it is, the next cell has its turn
        error = ' '.join(f'{type(e).__name__}: {e}'.split())[:MAX_ERROR]
    print(json.dumps({'cell': name, 'error': error}))


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for address in ('--agent', '--refused', '--later'):
        parser.add_argument(address, required=True)
    addresses = parser.parse_args()

    # The environment may name a proxy, which loopback has no use for.
    async with httpx.AsyncClient(trust_env=False, timeout=CELL_SECONDS) as http:
        agent = await dial(addresses.agent, http)
        refused = await dial(addresses.refused, http)
        later = await dial(addresses.later, http)
        for name, cell, caller in (
            ('send blocking', cells.send_blocking, agent),
            ('returnImmediately then poll', cells.poll, agent),
            ('stream', cells.stream, agent),
            ('subscribe', cells.subscribe, agent),
            ('subscribe to an ended task', cells.subscribe_ended, agent),
            ('list pages', cells.list_pages, agent),
            ('cancel', cells.cancel, agent),
            ('input-required round trip', cells.input_required, agent),
            ('message instead of task', cells.message, agent),
            ('files and data received', cells.files_received, agent),
            ('files and data sent', cells.files_sent, agent),
            ('unknown task', cells.unknown_task, agent),
            ('version refusal', cells.version_refusal, refused),
            ('unknown fields', cells.unknown_fields, later),
        ):
            await run(name, cell, caller)


if __name__ == '__main__':
    asyncio.run(main())
