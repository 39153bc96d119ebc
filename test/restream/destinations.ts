import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { freePort } from '../harness/platform.ts';
import { waitFor } from '../harness/wait-for.ts';

const MODULE = '/usr/lib/nginx/modules/ngx_rtmp_module.so';
/** Reason why tests with nginx as a destination cannot run here, or false. */
export const NO_NGINX_RTMP = spawnSync('sh', ['-c', `nginx -v && test -f ${MODULE}`], { stdio: 'ignore' })
  .status
  ? 'needs nginx with its rtmp module (apt-get install nginx libnginx-mod-rtmp)'
  : false;

export interface RtmpServer {
  /** `rtmp://127.0.0.1:<port>/live` */
  url: string;
  /** Bytes of video and audio that a key has sent, and whether it publishes now. */
  stream(key: string): Promise<{ bytes: number; publishing: boolean } | null>;
  /** Counts the frames received under a key within some seconds. */
  countFrames(key: string, seconds: number): Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

/** Starts nginx as a destination; it rejects keys that begin with `no`. It ends with the test. */
export async function startNginxRtmp(
  t: Pick<TestContext, 'after'>,
  given: { port?: number } = {},
): Promise<RtmpServer> {
  const dir = await mkdtemp(join(tmpdir(), 'marquee-nginx-rtmp-'));
  const port = given.port ?? (await freePort());
  const http = await freePort();
  await writeFile(
    join(dir, 'nginx.conf'),
    `load_module ${MODULE}; ${process.getuid?.() === 0 ? 'user root; ' : ''}daemon off; master_process off;
pid ${join(dir, 'pid')}; error_log ${join(dir, 'error.log')};
events { worker_connections 1024; }
rtmp { server { listen 127.0.0.1:${port}; application live { live on; wait_key on; wait_video on; drop_idle_publisher 60s;
  on_publish http://127.0.0.1:${http}/publish; } } }
http { access_log off; ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${join(dir, name)};`).join(' ')}
  server { listen 127.0.0.1:${http}; location /stat { rtmp_stat all; }
    location /publish { if ($arg_name ~ ^no) { return 403; } return 200; } } }`,
  );
  const child = spawn('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf')], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  t.after(async () => {
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await ended;
    await rm(dir, { recursive: true, force: true });
  });
  const stat = () => fetch(`http://127.0.0.1:${http}/stat`).then((answer) => answer.text());
  await waitFor(async () => (await stat()).includes('<rtmp>'), { message: 'nginx' });
  const url = `rtmp://127.0.0.1:${port}/live`;
  return {
    url,
    kill: (signal) => void child.kill(signal),
    async stream(key) {
      const block = (await stat()).split('<stream>').find((part) => part.includes(`<name>${key}</name>`));
      if (block === undefined) return null;
      const bytes = Number(/<bytes_in>(\d+)/.exec(block)?.[1] ?? 0);
      return { bytes, publishing: block.includes('<publishing/>') };
    },
    countFrames: (key, seconds) => countFrames(`${url}/${key}`, seconds),
  };
}

/** Counts the decodable frames in a separate process. */
export function countFrames(input: string, seconds: number, format: string[] = []): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(
      'ffmpeg',
      ['-v', 'error', '-nostdin', ...format, '-i', input, '-map', '0:v', '-t', String(seconds), ...PROGRESS],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const force = setTimeout(() => child.kill('SIGKILL'), (seconds + 15) * 1000);
    child.once('close', () => {
      clearTimeout(force);
      resolve(Number([...said.matchAll(/^frame=(\d+)/gm)].at(-1)?.[1] ?? 0));
    });
  });
}
const PROGRESS = ['-f', 'null', '-progress', 'pipe:1', '-'];

/** Starts a TCP server with a handler for each connection; it ends with the test. */
export async function startTcp(
  t: TestContext,
  onConnection: (socket: Socket) => void,
  secured?: TlsOptions,
): Promise<number> {
  const sockets = new Set<Socket>();
  const take = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  };
  const server: Server = secured === undefined ? createServer(take) : createTlsServer(secured, take);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Starts a TLS listener that forwards the plain bytes. */
export function startTlsFront(t: TestContext, secured: TlsOptions, port: number): Promise<number> {
  const handOn = (socket: Socket) => {
    const far = connect(port, '127.0.0.1');
    far.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => far.destroy());
    socket.pipe(far).pipe(socket);
  };
  return startTcp(t, handOn, secured);
}

/**
 * Starts an SRT listener of ffmpeg's libsrt with these options; it is restarted after each rejection. It ends
 * with the test.
 */
export async function startSrtListener(t: TestContext, options: string): Promise<string> {
  const port = await freePort();
  const url = `srt://127.0.0.1:${port}`;
  let child: ReturnType<typeof spawn> | null = null;
  let isOver = false;
  const listen = () => {
    if (isOver) return;
    const args = ['-v', 'error', '-nostdin', '-f', 'mpegts', '-i', `${url}?mode=listener&${options}`];
    child = spawn('ffmpeg', [...args, '-f', 'null', '-'], { stdio: 'ignore' });
    child.once('exit', listen);
  };
  listen();
  t.after(() => {
    isOver = true;
    child?.kill('SIGKILL');
  });
  return url;
}
