/** One piece of a broadcast on its way to destinations. */
export interface FeedItem {
  type: number;
  /** Milliseconds since the first one, over all encoder connections. */
  timestamp: number;
  payload: Buffer;
  /** `header` says how what follows is coded; `data` is the properties of the stream. */
  kind: 'data' | 'header' | 'frame';
  isKeyframe: boolean;
}
