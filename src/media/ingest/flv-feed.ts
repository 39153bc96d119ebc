import type { Writable } from 'node:stream';
import type { Broadcast, FlvSink } from './broadcast.ts';

/** Time for a reader to take the last bytes after the end of a publish. */
const DRAIN_MS = 5000;
/** Frames are gathered for so long: waking a reader for each costs more than all else here. */
const GATHER_MS = 50;

/**
 * Writes a publish to `reader`, mostly the standard input of an ffmpeg, until either of them ends.
 *
 * @param gatherMs 0 where each frame goes at once: nobody is woken by it.
 */
export function feed(broadcast: Broadcast, reader: Writable, gatherMs = GATHER_MS): void {
  // A reader that has gone is no fault: it is told by its end.
  reader.on('error', () => {});
  const detach = broadcast.attach(sinkOf(reader, gatherMs));
  reader.once('close', detach);
}

function sinkOf(reader: Writable, gatherMs: number): FlvSink {
  let held = false;
  let timer: NodeJS.Timeout | null = null;
  /** One that throws ends itself alone: the publish and its other readers go on. */
  const alone = (work: () => void) => {
    try {
      work();
    } catch (error) {
      reader.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const flush = () => {
    if (!held) return;
    held = false;
    alone(() => reader.uncork());
  };
  return {
    write: (bytes) => alone(() => void reader.write(bytes)),
    hold() {
      if (held || gatherMs === 0) return;
      held = true;
      reader.cork();
      if (timer === null) timer = setTimeout(flush, gatherMs).unref();
      else timer.refresh();
    },
    flush,
    queuedBytes: () => reader.writableLength,
    end: () => {
      flush();
      reader.end();
      const force = setTimeout(() => reader.destroy(), DRAIN_MS);
      reader.once('close', () => clearTimeout(force));
    },
  };
}
