// Subscribes to everything that a server offers and writes down what it hears, a line of JSON each, until the server
// closes. It asks for both names of the protocol, as Lichtblick does.

import protocol from "@foxglove/ws-protocol";
import WebSocket from "ws";

const { FoxgloveClient } = protocol;

const [url, protocols = `${FoxgloveClient.SUPPORTED_SUBPROTOCOL},foxglove.sdk.v1`] = process.argv.slice(2);
const giveUp = Date.now() + 20_000;

const write = (event, about) => process.stdout.write(`${JSON.stringify({ event, ...about })}\n`);

function connect() {
  const socket = new WebSocket(url, protocols.split(","));
  const client = new FoxgloveClient({ ws: socket });
  const topics = new Map();
  let refused;
  socket.on("unexpected-response", (_, response) => {
    refused = response.statusCode;
    socket.terminate();
  });
  client.on("open", () => write("open", { protocol: socket.protocol }));
  client.on("serverInfo", (info) => write("info", { info }));
  client.on("advertise", (channels) => {
    for (const channel of channels) {
      write("channel", { channel });
      topics.set(client.subscribe(channel.id), channel.topic);
    }
  });
  client.on("message", ({ subscriptionId, timestamp, data }) => {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    write("message", { topic: topics.get(subscriptionId), time: `${timestamp}`, data: bytes.toString("base64") });
  });
  client.on("time", ({ timestamp }) => write("time", { time: `${timestamp}` }));
  client.on("status", (status) => write("status", { status }));
  client.on("error", () => {});
  client.on("close", () => {
    if (refused != undefined) {
      write("refused", { code: refused });
    } else if (topics.size > 0 || Date.now() > giveUp) {
      write("close", {});
    } else {
      setTimeout(connect, 50); // the server is not there yet
    }
  });
}

connect();
