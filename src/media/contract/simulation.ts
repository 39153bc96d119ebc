/** Stream with a simulated encoder. */
export interface SimulatedSignal {
  streamId: string;
  /** Never log it. */
  streamKey: string;
  /** Planned end. Unique per request, so it identifies the request. */
  until: Date;
}

/** Port of the simulator; filled by the composition root. */
export interface SimulationPort {
  /** Returns the signals that this node is to run now; it ends all others. */
  wanted(nodeId: string): Promise<SimulatedSignal[]>;
  /**
   * Ends the simulation because its connection was closed: another encoder took over the stream, or its key
   * was rotated. A later request stays active.
   */
  ended(signal: Pick<SimulatedSignal, 'streamId' | 'until'>): Promise<void>;
}
