import type { Clock } from '../../../../kernel/clock.ts';
import { dateFromMs } from '../../../../kernel/clock.ts';
import { newId } from '../../../../kernel/ids.ts';
import type { Db } from '../../../../platform/db/index.ts';
import * as repository from './repository.ts';

/** Time without a heartbeat after which a node receives no work. */
const LOST_MS = 30_000;

interface NodeDeps {
  db: Db;
  clock: Clock;
}

/** Counts the live transcode slots of the cluster. */
export function countLiveSlots({ db, clock }: NodeDeps): Promise<number> {
  return repository.countSlots(db, dateFromMs(clock.ms() - LOST_MS));
}

/** Registration of this worker process as a transcode node. */
export interface TranscodeNode {
  /** Renews the registration; called every ten seconds or so. */
  heartbeat(): Promise<void>;
  leave(): Promise<void>;
}

export function createTranscodeNode({ db, clock }: NodeDeps, slots: number): TranscodeNode {
  const id = newId('nod');
  return {
    heartbeat: () => repository.touchNode(db, id, slots, clock.now()),
    leave: () => repository.removeNodes(db, id, dateFromMs(clock.ms() - LOST_MS)),
  };
}
