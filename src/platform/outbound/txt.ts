import { promises as dns } from 'node:dns';
import { errorCode, OutboundError } from './errors.ts';

export interface TxtResolver {
  /**
   * Returns every TXT record of a name, its chunks joined; empty when there is none.
   *
   * @throws {OutboundError} of the stage `dns`, when no server gave a definite answer.
   */
  resolve(name: string): Promise<string[]>;
  close(): void;
}

/** Error codes that mean that there is no record. */
const NO_RECORD_CODES = ['ENODATA', 'ENOTFOUND'];
/** Each is asked by itself: one that lags, or that remembers "nothing", does not decide. */
const MAX_SERVERS = 2;

/** @param servers `ip:port` each; the system's when empty. */
export function createTxtResolver(servers: string[]): TxtResolver {
  const known = servers.length > 0 ? servers : dns.getServers();
  const resolvers = known.slice(0, MAX_SERVERS).map((server) => {
    const resolver = new dns.Resolver({ timeout: 1500, tries: 2 });
    resolver.setServers([server]);
    return resolver;
  });
  return {
    async resolve(name) {
      const answers = await Promise.allSettled(resolvers.map((resolver) => resolver.resolveTxt(name)));
      const records = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (records.length > 0) return records.map((chunks) => chunks.join(''));
      const codes = answers.map((answer) =>
        answer.status === 'rejected' ? errorCode(answer.reason) : 'ENODATA',
      );
      const failed = codes.every((code) => !NO_RECORD_CODES.includes(code));
      if (failed) throw new OutboundError('dns', codes[0] ?? 'ENOSERVER');
      return [];
    },
    close: () => {
      for (const resolver of resolvers) resolver.cancel();
    },
  };
}
