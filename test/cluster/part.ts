/** Part of a cluster that can be killed and started again. */
export interface Part {
  name: string;
  /** Ends all of its processes as `kill -9` does. */
  kill(): Promise<void>;
  /** Starts it again on the same ports and data; resolves when it is ready. */
  start(): Promise<void>;
  /** Suspends it: connections stay open and get no response, until `thaw`. */
  freeze?(): void;
  thaw?(): void;
  /** Ends it and removes what it leaves behind. */
  close(): Promise<void>;
}
