/** A stream whose encoder is to be ours. */
export interface SimulatedSignal {
  streamId: string;
  /** Never log it. */
  streamKey: string;
  /** When it is to end. Each wish has its own: by it a new one is told from the one before. */
  until: Date;
}

/** What the simulator asks; filled by the composition root. */
export interface SimulationPort {
  /** What this node is to make now; what it leaves out is to end. */
  wanted(nodeId: string): Promise<SimulatedSignal[]>;
  /**
   * Its connection was ended from elsewhere: another encoder has the stream now, or its key was replaced. What was wished
   * since is not over with it.
   */
  ended(signal: Pick<SimulatedSignal, 'streamId' | 'until'>): Promise<void>;
}
