"""Signs and verifies cards with the SDK.

Standard input is a JSON object of cases by name, each with a card and a private
JWK; where the card has signatures it is verified, else it is signed. A line of
standard output says for each what came of it: the signed card, or an error.
"""

import json
import sys

from a2a.types import AgentCard
from a2a.utils import signing
from google.protobuf.json_format import MessageToDict, ParseDict
from jwt.api_jwk import PyJWK

MAX_ERROR = 300
PRIVATE = {'d', 'p', 'q', 'dp', 'dq', 'qi'}


def try_case(case: dict) -> dict:
    card = ParseDict(case['card'], AgentCard(), ignore_unknown_fields=True)
    if card.signatures:
        key = PyJWK({name: value for name, value in case['key'].items() if name not in PRIVATE})
        signing.create_signature_verifier(lambda kid, jku: key, [case['key']['alg']])(card)
        return {}
    header = {'alg': case['key']['alg'], 'kid': case['key']['kid'], 'typ': 'JOSE'}
    signed = signing.create_agent_card_signer(PyJWK(case['key']), header)(card)
    return {'card': MessageToDict(signed)}


for name, case in json.load(sys.stdin).items():
    try:
        result = try_case(case)
    except Exception as e:  # whatever it is, the next case has its turn
        result = {'error': ' '.join(f'{type(e).__name__}: {e}'.split())[:MAX_ERROR]}
    print(json.dumps({'case': name} | result))
