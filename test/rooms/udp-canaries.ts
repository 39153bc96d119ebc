import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import type { TestContext } from 'node:test';

/**
 * Sockets that must receive nothing: their ICE candidates (RFC 8839, section 5.1), and the addresses of those
 * that did.
 */
export interface UdpCanaries {
  candidates: string[];
  heard: string[];
}

/** Opens one socket on each of the machine's own addresses, until the test ends. */
export async function openTraps(t: TestContext): Promise<UdpCanaries> {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const hosts = own.filter(({ family }) => family === 'IPv4').map(({ address }) => address);
  const heard: string[] = [];
  const candidates = hosts.map(async (host) => {
    const socket = await openUdp(host);
    t.after(() => socket.close());
    socket.on('message', () => heard.push(host));
    return `candidate:1 1 udp 2130706431 ${host} ${socket.address().port} typ host`;
  });
  return { candidates: await Promise.all(candidates), heard };
}

async function openUdp(host: string): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, host);
  await once(socket, 'listening');
  return socket;
}
