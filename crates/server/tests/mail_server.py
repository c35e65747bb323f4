"""A mail server for a test: prints its port, then each attempt as a line of JSON.

It takes mail after a login, and answers the first attempt with a temporary refusal.
"""
import email
import email.policy
import json
import threading

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

logins = []
attempts = []


class Handler:
    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        answer = "451 later" if not attempts else "250 OK"
        attempts.append(answer)
        told = {
            "answer": answer,
            "login": logins[-1],
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "subject": message["subject"],
            "id": message["message-id"],
            "text": message.get_content(),
        }
        print(json.dumps(told), flush=True)
        return answer


def authenticate(server, session, envelope, mechanism, data):
    logins.append(f"{data.login.decode()} {data.password.decode()}")
    return AuthResult(success=data.password == b"secret")


class AnyPort(Controller):
    """A controller whose port is chosen by the kernel."""

    def _trigger_server(self):
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


controller = AnyPort(
    Handler(),
    hostname="127.0.0.1",
    port=0,
    authenticator=authenticate,
    auth_required=True,
    auth_require_tls=False,
)
controller.start()
print(controller.port, flush=True)
threading.Event().wait()
