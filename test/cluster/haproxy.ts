import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { killProcess } from '../harness/processes.ts';
import { waitFor } from '../harness/wait-for.ts';
import type { Part } from './part.ts';

/** The reason that a skipped part shows. */
export const NO_HAPROXY = 'no load balancer: haproxy is not installed';

export const hasHaproxy = (): boolean => spawnSync('haproxy', ['-v'], { stdio: 'ignore' }).status === 0;

interface ProxyOptions {
  name: string;
  /** Path of its configuration file, which is written. */
  file: string;
  /** Sections after the defaults. */
  sections: string;
  /** One of its ports. */
  port: number;
}

const DEFAULTS = `
defaults
  timeout connect 2s
  timeout check 1s
  default-server inter 500ms fall 2 rise 1
  option redispatch
  retries 3
`;

/** Starts a load balancer. */
export async function startHaproxy({ name, file, sections, port }: ProxyOptions): Promise<Part> {
  await writeFile(file, DEFAULTS + sections);
  let child: ChildProcess | null = null;
  const proxy: Part = {
    name,
    async start() {
      child = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
      await waitFor(() => accepts(port), { message: 'HAProxy' });
    },
    async kill() {
      if (child !== null) await killProcess(child);
    },
    close: () => proxy.kill(),
  };
  await proxy.start();
  return proxy;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });
}

interface Server {
  name: string;
  port: number;
}

interface Front {
  ports: { http: number; rtmp: number };
  api: readonly Server[];
  media: readonly Server[];
}

/** Returns the sections that docs/guides/operations.md#load-balancer recommends. */
export function frontSections({ ports, api, media }: Front): string {
  const list = (servers: readonly Server[], options: string) =>
    servers.map(({ name, port }) => `  server ${name} 127.0.0.1:${port} check ${options}`).join('\n');
  return `
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
