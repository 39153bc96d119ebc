import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestCa, type TestCa } from '../harness/certificates.ts';
import { createPartner, type Partner } from '../harness/partner.ts';
import { freePort, type RunningPlatform, startPlatform } from '../harness/platform.ts';
import { childrenOf } from '../harness/processes.ts';
import { waitFor } from '../harness/wait-for.ts';
import { type Publisher, startPublisher } from '../rtmp/publisher.ts';

/** A broadcast with its encoder. */
export interface TestBroadcast {
  id: string;
  key: string;
  encoder: Publisher;
}

/** A platform with two media processes and an RTMPS port. */
export interface TwoProcesses {
  platform: RunningPlatform;
  partner: Partner;
  metricsPort: number;
  /** Starts a broadcast with a real encoder. @param input fields of its stream. */
  broadcast(protocol?: 'rtmp' | 'rtmps', input?: object): Promise<TestBroadcast>;
  /** Starts a new encoder of a stream. */
  publish(key: string, protocol?: 'rtmp' | 'rtmps'): Publisher;
  /** Returns the playlist of the source rendition; empty before there is one. */
  playlist(id: string): Promise<string>;
  /** Returns the numbers of the processes that have had the stream. */
  processesOf(id: string): Promise<number[]>;
  /** Process IDs by the number of the process. */
  pids(): number[];
  close(): Promise<void>;
}

const SIZE = { width: 320, height: 180, fps: 15 };

export async function startTwoProcesses(
  environment: Record<string, string> = {},
  dataDir?: string,
): Promise<TwoProcesses> {
  const ca = await createTestCa();
  const [rtmpsPort, metricsPort] = [await freePort(), await freePort()];
  const platform = await startPlatform({
    ...(dataDir === undefined ? {} : { dataDir }),
    environment: {
      ...(await certificateFiles(ca)),
      RTMPS_PORT: String(rtmpsPort),
      METRICS_PORT: String(metricsPort),
      MEDIA_PROCESSES: '2',
      LIVE_MAX_RUNGS: '0',
      SIGNAL_GRACE_MS: '60000',
      ...environment,
    },
  });
  const partner = createPartner(platform);
  const encoders: Publisher[] = [];
  const folders = [platform.dataDir, join(platform.dataDir, 'nodes', '1')];
  const publish: TwoProcesses['publish'] = (key, protocol = 'rtmp') => {
    const port = protocol === 'rtmp' ? platform.rtmpPort : rtmpsPort;
    const encoder = startPublisher({ url: `${protocol}://127.0.0.1:${port}/live/${key}`, ...SIZE });
    encoders.push(encoder);
    return encoder;
  };
  return {
    ...{ platform, partner, metricsPort, publish },
    async broadcast(protocol, input) {
      const { id, streamKey: key } = await partner.createStream({ latencyMode: 'LOW', ...input });
      await partner.start(id);
      const encoder = publish(key, protocol);
      await waitFor(async () => (await partner.stream(id)).hasSignal, { timeoutMs: 15_000 });
      return { id, key, encoder };
    },
    async playlist(id) {
      const response = await fetch(`${platform.url}/live/${id}/src/index.m3u8`);
      return response.ok ? response.text() : '';
    },
    async processesOf(id) {
      const has = await Promise.all(folders.map((folder) => exists(join(folder, 'live', id))));
      return [...has.keys()].filter((index) => has[index]);
    },
    pids: () => childrenOf(platform.process.pid ?? -1, '/media.').sort((one, other) => one - other),
    async close() {
      await Promise.all(encoders.map((encoder) => encoder.stop()));
      await platform.stop();
      await ca.close();
    },
  };
}

async function certificateFiles(ca: TestCa) {
  const { key, cert } = await ca.issue(['127.0.0.1']);
  const folder = `${ca.file}.d`;
  await mkdir(folder);
  const files = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') };
  await writeFile(files.TLS_CERT_FILE, cert);
  await writeFile(files.TLS_KEY_FILE, key);
  return files;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
