/** One item of a broadcast on its way to destinations. */
export interface FeedItem {
  type: number;
  /** Milliseconds since the first one, over all encoder connections. */
  timestamp: number;
  payload: Buffer;
  /** `header` configures the codec of subsequent frames; `data` is the metadata of the stream. */
  kind: 'data' | 'header' | 'frame';
  isKeyframe: boolean;
}
