import autocannon from 'autocannon';

/** Sends requests with these headers in turn until it is killed: a process of its own, so that it can be told apart. */
process.once(
  'message',
  (options: { url: string; headers: Record<string, string>[]; connections: number }) => {
    const { url, headers, connections } = options;
    void autocannon({
      url,
      connections,
      duration: 3600,
      requests: headers.map((one) => ({ method: 'GET', headers: one })),
    });
  },
);
process.once('disconnect', () => process.exit());
