import { once } from 'node:events';
import dns from 'dns2';

/** DNS server on loopback that serves only the records of the tests. */
export interface TestDns {
  /** Address for `DNS_SERVERS`. */
  address: string;
  /** TXT records by name; a record in several parts is sent in several strings. */
  txt: Map<string, (string | string[])[]>;
  /** IPv4 addresses by name. */
  a: Map<string, string[]>;
  /** Fault of every query: SERVFAIL, or no response. */
  fault: 'none' | 'servfail' | 'silent';
  /** Queried names. */
  asked: string[];
  close(): Promise<void>;
}

const { TYPE, CLASS, RCODE } = dns.Packet;

export async function startTestDns(): Promise<TestDns> {
  const server = dns.createUDPServer((request, send) => {
    if (zone.fault === 'silent') return;
    const response = dns.Packet.createResponseFromRequest(request);
    const [question] = request.questions;
    const name = question?.name.toLowerCase() ?? '';
    zone.asked.push(name);
    if (zone.fault === 'servfail') response.header.rcode = RCODE.SERVFAIL;
    else if (question?.type === TYPE.TXT) {
      for (const data of zone.txt.get(name) ?? []) {
        response.answers.push(
          new dns.Packet.Resource({ name, type: TYPE.TXT, class: CLASS.IN, ttl: 1, data }),
        );
      }
    } else if (question?.type === TYPE.A) {
      for (const address of zone.a.get(name) ?? []) {
        response.answers.push(
          new dns.Packet.Resource({ name, type: TYPE.A, class: CLASS.IN, ttl: 1, address }),
        );
      }
    }
    send(response);
  });
  const listening = once(server, 'listening');
  server.listen(0, '127.0.0.1');
  await listening;
  const zone: TestDns = {
    address: `127.0.0.1:${server.address().port}`,
    txt: new Map(),
    a: new Map(),
    fault: 'none',
    asked: [],
    async close() {
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
  return zone;
}
