import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '../harness/wait-for.ts';
import type { Part } from './part.ts';

interface Ports {
  http: number;
  rtmp: number;
}

interface Server {
  name: string;
  port: number;
}

interface Servers {
  api: readonly Server[];
  media: readonly Server[];
}

/** The reason that a skipped part shows. */
export const NO_HAPROXY = 'no load balancer: haproxy is not installed';

export const hasHaproxy = (): boolean => spawnSync('haproxy', ['-v'], { stdio: 'ignore' }).status === 0;

/** Returns the configuration that docs/guides/operations.md#load-balancer recommends. */
function configuration(ports: Ports, { api, media }: Servers): string {
  const list = (servers: readonly Server[], options: string) =>
    servers.map(({ name, port }) => `  server ${name} 127.0.0.1:${port} check ${options}`).join('\n');
  return `
defaults
  timeout connect 2s
  timeout check 1s
  default-server inter 500ms fall 2 rise 1
  option redispatch
  retries 3

listen http
  mode http
  bind 127.0.0.1:${ports.http}
  timeout client 60s
  timeout server 60s
  balance roundrobin
  option httpchk GET /readyz
  option forwardfor
  # Reads are repeated on another node; a write may have happened.
  retry-on conn-failure empty-response
  http-request disable-l7-retry unless METH_GET
${list(api, '')}

listen rtmp
  mode tcp
  bind 127.0.0.1:${ports.rtmp}
  timeout client 1h
  timeout server 1h
  balance leastconn
${list(media, 'on-marked-down shutdown-sessions')}
`;
}

interface ProxyOptions {
  folder: string;
  ports: Ports;
  servers: Servers;
}

/** Starts the load balancer of the cluster. */
export async function startHaproxy({ folder, ports, servers }: ProxyOptions): Promise<Part> {
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, configuration(ports, servers));
  let child: ChildProcess | null = null;
  const proxy: Part = {
    name: 'haproxy',
    async start() {
      child = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
      const url = `http://127.0.0.1:${ports.http}/healthz`;
      await waitFor(async () => (await fetch(url)).status > 0, { message: 'HAProxy' });
    },
    async kill() {
      const ended = child === null ? null : once(child, 'exit');
      child?.kill('SIGKILL');
      await ended;
      child = null;
    },
    close: () => proxy.kill(),
  };
  await proxy.start();
  return proxy;
}
