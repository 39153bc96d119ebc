import { randomBytes } from 'node:crypto';
import type { Logger } from '../../platform/logger.ts';
import type { SimulatedSignal, SimulationPort } from '../contract/index.ts';
import { type FfmpegProcess, spawnFfmpeg } from '../ffmpeg/process.ts';

export interface SimulatorOptions {
  port: SimulationPort;
  nodeId: string;
  ffmpeg: string;
  /** Returns the RTMP port of this process. */
  rtmpPort(): number;
  log: Logger;
}

/** Publisher of a moving test video and a tone to this node's own ingest, for test mode. */
export interface Simulator {
  /** Reads the desired signals, and starts and ends encoders accordingly. Never rejects. */
  sync(): Promise<void>;
  /** Returns the stream key meant by one of our encoders; the key unchanged for every other publisher. */
  keyOf(sent: string): string;
  stop(): Promise<void>;
}

interface Run extends SimulatedSignal {
  encoder: FfmpegProcess;
  /** Stands for the stream key on the command line, which others on the machine may read. */
  alias: string;
}

export function createSimulator(options: SimulatorOptions): Simulator {
  const { port, nodeId, log } = options;
  const runs = new Map<string, Run>();
  let asking: Promise<void> | null = null;
  let stopped = false;

  const unknown = (error: unknown) => log.warn({ err: error }, 'the simulated signals cannot be read');

  const begin = (signal: SimulatedSignal) => {
    const alias = `sim_${randomBytes(24).toString('base64url')}`;
    const encoder = spawnFfmpeg({
      program: options.ffmpeg,
      args: encoderArgs(options.rtmpPort(), alias),
      log,
    });
    const run = { ...signal, encoder, alias };
    runs.set(signal.streamId, run);
    void encoder.exited.then(async () => {
      if (runs.get(signal.streamId) !== run) return;
      // The run stays until a sync has seen its end: one that read the state before would start it again, and
      // take the stream from the encoder that has just replaced it.
      await port.ended(run).catch(unknown);
      await asking;
      if (runs.get(signal.streamId) === run) runs.delete(signal.streamId);
    });
  };
  const end = async (run: Run) => {
    runs.delete(run.streamId);
    await run.encoder.stop();
  };
  const look = async () => {
    const wanted = new Map((await port.wanted(nodeId)).map((signal) => [signal.streamId, signal]));
    const over = [...runs.values()].filter((run) => wanted.get(run.streamId)?.streamKey !== run.streamKey);
    await Promise.all(over.map(end));
    if (stopped) return;
    for (const signal of wanted.values()) {
      const run = runs.get(signal.streamId);
      if (run === undefined) begin(signal);
      // Requested again or extended.
      else run.until = signal.until;
    }
  };

  return {
    sync() {
      if (stopped) return asking ?? Promise.resolve();
      asking ??= look()
        .catch(unknown)
        .finally(() => {
          asking = null;
        });
      return asking;
    },
    keyOf: (sent) => [...runs.values()].find(({ alias }) => alias === sent)?.streamKey ?? sent,
    async stop() {
      stopped = true;
      await Promise.all([...runs.values()].map(end));
    },
  };
}

/** Returns arguments for 360p with a clock, cheap to encode; keyframes every two seconds. */
function encoderArgs(rtmpPort: number, alias: string): string[] {
  return [
    ...['-v', 'error', '-re', '-f', 'lavfi', '-i', 'testsrc2=s=640x360:r=30'],
    ...['-re', '-f', 'lavfi', '-i', 'sine=f=440:r=48000'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
    ...['-threads', '1', '-g', '60', '-keyint_min', '60', '-sc_threshold', '0'],
    ...['-b:v', '600k', '-maxrate', '600k', '-bufsize', '600k', '-c:a', 'aac', '-b:a', '64k'],
    ...['-f', 'flv', `rtmp://127.0.0.1:${rtmpPort}/live/${alias}`],
  ];
}
