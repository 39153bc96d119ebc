import { freePort, type RunningPlatform, startPlatform } from '../harness/platform.ts';
import { childrenOf, killProcess } from '../harness/processes.ts';
import { waitFor } from '../harness/wait-for.ts';
import type { Part } from './part.ts';

export type Role = 'api' | 'worker' | 'media';

/** Node of the cluster with one role, in processes of its own. */
export interface ClusterNode extends Part {
  role: Role;
  port: number;
  rtmpPort: number;
  platform(): RunningPlatform;
  /** Returns the process IDs of the node. */
  pids(): number[];
  /** Sends SIGTERM; resolves when the node has drained. */
  stop(): Promise<void>;
  /** Starts it from another checkout, by default this one, after `stop` or `kill`. */
  startFrom(root: string | undefined): Promise<void>;
}

interface NodeOptions {
  name: string;
  role: Role;
  dataDir: string;
  environment: Record<string, string>;
  ports: { http: number; rtmp: number };
  /** Checkout of the program. Default: this one. */
  root: string | undefined;
}

export async function createNode(options: NodeOptions): Promise<ClusterNode> {
  const { name, role, dataDir, root } = options;
  const { http: port, rtmp: rtmpPort } = options.ports;
  const environment = {
    ...options.environment,
    ROLES: role,
    METRICS_PORT: String(await freePort()),
    MEDIA_PORT: String(await freePort()),
  };
  let running: RunningPlatform | null = null;
  const platform = () => {
    if (running === null) throw new Error(`${name} does not run`);
    return running;
  };
  let starting: Promise<RunningPlatform> | null = null;
  let checkout = root;
  const start = () =>
    startPlatform({
      dataDir,
      port,
      rtmpPort,
      environment,
      ...(checkout === undefined ? {} : { root: checkout }),
    });
  const node: ClusterNode = {
    name,
    role,
    port,
    rtmpPort,
    platform,
    pids: () => {
      const pid = platform().process.pid ?? 0;
      return [pid, ...childrenOf(pid, '/media.')];
    },
    async start() {
      // A child of a killed process releases its ports a moment later.
      starting = waitFor(start, { timeoutMs: 20_000, message: `${name} to start` });
      running = await starting;
    },
    async startFrom(other) {
      checkout = other;
      await node.start();
    },
    async kill() {
      await killProcess(platform().process);
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async stop() {
      await platform().stop();
    },
    async close() {
      // A trial that is interrupted may just start it.
      await starting?.catch(() => {});
      const child = running?.process;
      // A suspended process does not receive SIGTERM.
      if (child?.exitCode === null && child.signalCode === null) signal('SIGCONT');
      await running?.stop();
    },
  };
  const signal = (what: NodeJS.Signals) => {
    for (const pid of node.pids()) process.kill(pid, what);
  };
  return node;
}
