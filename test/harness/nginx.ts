import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './platform.ts';
import { waitFor } from './wait-for.ts';

export interface RunningNginx {
  url: string;
  pid: number;
  /** Path that the directives name `/var/cache/nginx`. */
  dir: string;
  close(): Promise<void>;
}

/** Is there an nginx on this machine? Tests and benchmarks that need one are skipped by name without. */
export function hasNginx(): boolean {
  return spawnSync('nginx', ['-v'], { stdio: 'ignore' }).status === 0;
}

/**
 * Returns the `http` and `server` directives of docs/guides/playback.md#nginx-cache-for-broadcasts for a
 * platform at this URL.
 */
export async function broadcastGuide(upstream: string): Promise<{ http: string; server: string }> {
  const guide = await readFile(new URL('../../docs/guides/playback.md', import.meta.url), 'utf8');
  const [, http, server] =
    /```nginx\n# In http[^\n]*\n([^`]*?)# In server[^\n]*\n([^`]*)```/.exec(guide) ?? [];
  if (http === undefined || server === undefined) throw new Error('the guide has no such directives');
  return { http, server: server.replaceAll('http://127.0.0.1:8080', upstream) };
}

/** Starts nginx with these directives in its one server, around it, and before all; without a trace outside of its folder. */
export async function startNginx(server: string, http = '', top = ''): Promise<RunningNginx> {
  const dir = await mkdtemp(join(tmpdir(), 'marquee-nginx-'));
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(dir, name)};`,
  );
  // Started as root, nginx would otherwise drop the privilege to read the folders of the tests.
  const user = process.getuid?.() === 0 ? 'user root; ' : '';
  const config =
    `${top}${user}daemon off; worker_processes 1; pid ${join(dir, 'pid')}; error_log ${join(dir, 'error.log')};
events { worker_connections 8192; }
http {
  access_log off; keepalive_requests 10000000; sendfile on; tcp_nopush on; ${temporary.join(' ')}
  types { video/iso.segment m4s; video/mp4 mp4; image/jpeg jpg; }
  ${http}
  server { listen 127.0.0.1:${port}; ${server} }
}`.replaceAll('/var/cache/nginx', dir);
  await writeFile(join(dir, 'nginx.conf'), config);
  const child = spawn('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = `http://127.0.0.1:${port}`;
  await waitFor(async () => child.exitCode !== null || (await fetch(url)).status > 0, { message: 'nginx' });
  if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
  return {
    url,
    pid: child.pid ?? 0,
    dir,
    async close() {
      child.kill('SIGTERM');
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}
