/** States of the broadcasts of a media node, for the nodes that follow their streams. */
export interface BroadcastStates {
  /** Returns the state that was read last; undefined when there is none. */
  isLive(streamId: string): boolean | undefined;
  /** Reads the states of the streams with an encoder and of those asked for in the last 30 seconds. */
  refresh(): Promise<void>;
}

interface Options {
  /** Returns the IDs of the streams with an encoder on this node. */
  publishing(): readonly string[];
  /** Returns those of the streams whose broadcast is live. */
  listLive(streamIds: readonly string[]): Promise<readonly string[]>;
}

const FOLLOWED_MS = 30_000;

/** Creates the states. When they cannot be read, the last ones remain. */
export function createBroadcastStates({ publishing, listLive }: Options): BroadcastStates {
  /** Time of the last request by stream ID. */
  const followedMs = new Map<string, number>();
  let states: ReadonlyMap<string, boolean> = new Map();
  let running: Promise<void> = Promise.resolve();

  const read = async () => {
    const sinceMs = performance.now() - FOLLOWED_MS;
    for (const [streamId, askedMs] of followedMs) if (askedMs < sinceMs) followedMs.delete(streamId);
    const ids = [...new Set([...publishing(), ...followedMs.keys()])];
    const live = new Set(ids.length === 0 ? [] : await listLive(ids));
    states = new Map(ids.map((id) => [id, live.has(id)]));
  };
  return {
    isLive(streamId) {
      followedMs.set(streamId, performance.now());
      return states.get(streamId);
    },
    refresh() {
      // One after the other, so that an older result does not replace a newer one.
      running = running.then(read, read);
      return running;
    },
  };
}
