"""A control plane. Each line of its input is a command in JSON, each line of its output something that happened.

Commands: {"send": response} to each stream, and to those that begin later; {"raw": hex} to each stream, instead of a
message; {"repeat": true}: what was rejected is sent again at once.
"""

import argparse
import json
import queue
import sys
import threading
from concurrent import futures

import grpc
from envoy.service.discovery.v3 import discovery_pb2
from google.protobuf.json_format import MessageToDict

METHOD = "StreamAggregatedResources"


class ControlPlane(grpc.GenericRpcHandler):
    def __init__(self):
        self.lock = threading.Lock()
        self.streams = set()
        self.current = None
        self.repeats = False

    def service(self, details):
        if details.method != f"/envoy.service.discovery.v3.AggregatedDiscoveryService/{METHOD}":
            return None
        return grpc.stream_stream_rpc_method_handler(
            self.serve,
            discovery_pb2.DiscoveryRequest.FromString,
            lambda sent: sent if isinstance(sent, bytes) else sent.SerializeToString(),
        )

    def serve(self, requests, context):
        say(stream=dict(context.invocation_metadata()))
        sent = queue.Queue()
        threading.Thread(target=self.read, args=(requests, sent), daemon=True).start()
        while (response := sent.get()) is not None:
            yield response

    def read(self, requests, sent):
        try:
            for request in requests:
                say(request=MessageToDict(request, preserving_proto_field_name=True))
                with self.lock:
                    is_first = sent not in self.streams
                    self.streams.add(sent)
                    if self.current and (is_first or self.repeats and request.HasField("error_detail")):
                        sent.put(self.current)
        except grpc.RpcError:
            pass
        finally:
            with self.lock:
                self.streams.discard(sent)
            sent.put(None)

    def command(self, command):
        with self.lock:
            self.repeats = command.get("repeat", self.repeats)
            message = None
            if "send" in command:
                message = self.current = response(command["send"])
            elif "raw" in command:
                message = bytes.fromhex(command["raw"])
            if message is not None:
                for stream in self.streams:
                    stream.put(message)


def response(given):
    made = discovery_pb2.DiscoveryResponse(
        version_info=given["version"], nonce=given["nonce"], type_url=given["type_url"]
    )
    for type_url, value in given["resources"]:
        made.resources.add(type_url=type_url, value=bytes.fromhex(value))
    return made


def say(**event):
    print(json.dumps(event), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", default="0")
    parser.add_argument("--tls", nargs=3, metavar=("CERT", "KEY", "CA"))
    args = parser.parse_args()
    server = grpc.server(futures.ThreadPoolExecutor(16))
    control_plane = ControlPlane()
    server.add_generic_rpc_handlers((control_plane,))
    address = f"127.0.0.1:{args.port}"
    if args.tls:
        cert, key, ca = (open(path, "rb").read() for path in args.tls)
        port = server.add_secure_port(address, grpc.ssl_server_credentials([(key, cert)], ca, True))
    else:
        port = server.add_insecure_port(address)
    server.start()
    say(port=port)
    for line in sys.stdin:
        control_plane.command(json.loads(line))


main()
