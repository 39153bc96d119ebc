import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, OWNER_EMAIL, serverProgram } from '../harness/platform.ts';
import { NO_REDIS, redisProgram, startTestRedis } from '../harness/redis.ts';
import { NO_S3, startS3 } from '../harness/s3.ts';
import { livekitUnavailableReason, startLivekit } from '../rooms/livekit.ts';
import { frontSections, hasHaproxy, NO_HAPROXY, startHaproxy } from './haproxy.ts';
import { type ClusterNode, createNode, type Role } from './node.ts';
import type { Part } from './part.ts';
import { startClusterPostgres } from './postgres.ts';

const NODES_PER_ROLE = 2;
const ROLES = ['api', 'worker', 'media'] as const;

export interface ClusterOptions {
  environment?: Record<string, string>;
  /** Database instead of one PostgreSQL server, e.g. a replicated one. */
  database?: Part & { url: string };
  /** Checkout of the program that the nodes run. Default: this one. */
  root?: string;
}

/** Two nodes of each role and what they depend on, on this machine. */
export interface Cluster {
  /** URL of the load balancer, or of the first api node where there is none. */
  url: string;
  api: string;
  /** `rtmp://<host>:<port>/live` of the load balancer, or of the first media node. */
  rtmpUrl: string;
  databaseUrl: string;
  postgres: Part;
  nodes: ClusterNode[];
  /** All parts, by name. */
  parts: ReadonlyMap<string, Part>;
  /** Reasons for which parts are missing. */
  missing: string[];
  /** Creates a key of the owner without a practical rate limit. */
  createKey(): Promise<string>;
  nodesOf(role: Role): ClusterNode[];
  close(): Promise<void>;
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-cluster-'));
  const parts: Part[] = [];
  const close = async () => {
    for (const part of parts.toReversed()) await part.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return await assemble({ options, folder, parts, close });
  } catch (error) {
    await close();
    throw error;
  }
}

interface Assembly {
  options: ClusterOptions;
  folder: string;
  /** Started parts, in the order of their start. */
  parts: Part[];
  close(): Promise<void>;
}

async function assemble({ options, folder, parts, close }: Assembly): Promise<Cluster> {
  const add = <P extends Part>(part: P): P => {
    parts.push(part);
    return part;
  };
  const ports = { http: await freePort(), rtmp: await freePort() };
  const url = `http://127.0.0.1:${ports.http}`;
  const rtmpUrl = `rtmp://127.0.0.1:${ports.rtmp}/live`;
  const { root, database } = options;
  const postgres = add(
    database ?? (await startClusterPostgres(join(folder, 'database'), root !== undefined)),
  );
  const { settings, missing } = await startServices(add, url);
  const secrets = { DATABASE_URL: postgres.url, SECRET_KEY: randomBytes(32).toString('hex') };
  const environment = {
    ...{ PUBLIC_URL: url, RTMP_URL: rtmpUrl, TRUST_PROXY: '127.0.0.1', DRAIN_DELAY: '2' },
    // All encoders have the address of the load balancer.
    ...{ INGEST_MAX_PER_ADDRESS: '1000', LOG_LEVEL: 'warn' },
    ...settings,
    ...secrets,
    ...options.environment,
  };
  const isBalanced = hasHaproxy();
  const nodes: ClusterNode[] = [];
  for (const role of ROLES) {
    for (let index = 1; index <= NODES_PER_ROLE; index += 1) {
      const name = `${role}-${index}`;
      const dataDir = join(folder, name);
      await mkdir(dataDir);
      if (settings.S3_BUCKET === undefined) await shareMedia(folder, dataDir);
      // Without a load balancer, the first node has its ports.
      const own = !isBalanced && index === 1 ? ports : { http: await freePort(), rtmp: await freePort() };
      const node = await createNode({ name, role, dataDir, environment, root, ports: own });
      nodes.push(add(node));
      // The first one migrates and creates the owner.
      await node.start();
    }
  }
  const nodesOf = (role: Role) => nodes.filter((node) => node.role === role);
  if (isBalanced) {
    const api = nodesOf('api').map(({ name, port }) => ({ name, port }));
    const media = nodesOf('media').map(({ name, rtmpPort }) => ({ name, port: rtmpPort }));
    const sections = frontSections({ ports, api, media });
    const file = join(folder, 'haproxy.cfg');
    add(await startHaproxy({ name: 'haproxy', file, sections, port: ports.http }));
  } else missing.push(NO_HAPROXY);
  return {
    ...{ url, rtmpUrl, postgres, nodes, nodesOf, missing, close },
    api: `${url}/api/v1`,
    databaseUrl: postgres.url,
    parts: new Map(parts.map((part) => [part.name, part])),
    createKey: () => createKey({ ...environment, DATA_DIR: join(folder, 'api-1') }, root),
  };
}

interface Services {
  /** Settings for the nodes. */
  settings: Record<string, string>;
  /** Reasons for which services are missing. */
  missing: string[];
}

/** Starts the installed services around the nodes. */
async function startServices(add: (part: Part) => Part, url: string): Promise<Services> {
  const settings: Record<string, string> = {};
  const missing: string[] = [];
  if (redisProgram === null) missing.push(NO_REDIS);
  else {
    const redis = await startTestRedis();
    add({ ...redis, name: 'redis' });
    settings.REDIS_URL = redis.url;
  }
  const s3 = await startS3();
  if (s3 === null) missing.push(NO_S3);
  else {
    add({ ...s3, name: 's3' });
    Object.assign(settings, {
      S3_BUCKET: s3.bucket,
      S3_ENDPOINT: s3.endpoint,
      S3_REGION: s3.region,
      S3_ACCESS_KEY_ID: s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      S3_PATH_STYLE: 'true',
    });
  }
  const noLivekit = livekitUnavailableReason();
  if (noLivekit !== null) missing.push(noLivekit);
  else {
    const livekit = await startLivekit(`${url}/rtc/livekit/webhook`);
    add({ ...livekit, name: 'livekit' });
    Object.assign(settings, livekit.env);
  }
  return { settings, missing };
}

/** Gives all nodes of the machine the same folder for stored files. */
async function shareMedia(folder: string, dataDir: string): Promise<void> {
  await mkdir(join(folder, 'media'), { recursive: true });
  await symlink(join(folder, 'media'), join(dataDir, 'media'));
}

async function createKey(environment: Record<string, string>, root: string | undefined): Promise<string> {
  const program = root === undefined ? serverProgram('cli') : join(root, 'src/main/cli.ts');
  const args = `key create --account ${OWNER_EMAIL} --scope FULL_ACCESS --rate-limit 2000000000 --json`;
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args.split(' ')], {
    env: { ...process.env, ...environment },
  });
  const made: unknown = JSON.parse(stdout);
  if (typeof made !== 'object' || made === null || !('key' in made)) throw new Error('no key was created');
  return String(made.key);
}
