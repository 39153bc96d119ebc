import type { Writable } from 'node:stream';
import type { Broadcast, FlvSink } from './broadcast.ts';

/** Time for a reader to take the last bytes after the end of a publish. */
const DRAIN_MS = 5000;
/** Time for which frames are batched: waking a reader for each costs more than everything else here. */
const GATHER_MS = 50;

/**
 * Writes a publish to `reader`, usually the standard input of an ffmpeg, until either of them ends.
 *
 * @param gatherMs 0 sends each frame immediately, for readers that need no process wake-up.
 */
export function feed(broadcast: Broadcast, reader: Writable, gatherMs = GATHER_MS): void {
  // A closed reader is not an error: it is reported by its `close` event.
  reader.on('error', () => {});
  const detach = broadcast.attach(sinkOf(reader, gatherMs));
  reader.once('close', detach);
}

function sinkOf(reader: Writable, gatherMs: number): FlvSink {
  let held = false;
  let timer: NodeJS.Timeout | null = null;
  /** Limits an exception to the reader that caused it: the publish and its other readers continue. */
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
