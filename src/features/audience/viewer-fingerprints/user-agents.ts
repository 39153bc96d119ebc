import Bowser from 'bowser';
import { isbot } from 'isbot';

/** What somebody watches with. */
export interface UserAgentInfo {
  device: string;
  browser: string | null;
  os: string | null;
  isBot: boolean;
}

const DEVICES: ReadonlySet<string> = new Set(['DESKTOP', 'MOBILE', 'TABLET', 'TV', 'BOT']);
const BOT: UserAgentInfo = { device: 'BOT', browser: null, os: null, isBot: true };
/** Of a longer one the rest is left out. */
const MOST_OF_AGENT = 500;
/** Some 2 MB. */
const REMEMBERED = 4000;

/** Reads the `User-Agent`; a list that is kept up says which are bots. Without one it is a bot. */
export function createUserAgentParser(): (userAgent: string) => UserAgentInfo {
  /** To take one apart takes 100 µs, and most viewers share a few. The longest unseen first. */
  const known = new Map<string, UserAgentInfo>();
  return (userAgent) => {
    const text = userAgent.slice(0, MOST_OF_AGENT);
    const agent = known.get(text) ?? agentOf(text);
    known.delete(text);
    known.set(text, agent);
    if (known.size > REMEMBERED) {
      const [oldest] = known.keys();
      if (oldest !== undefined) known.delete(oldest);
    }
    return agent;
  };
}

function agentOf(text: string): UserAgentInfo {
  if (text.trim() === '' || isbot(text)) return BOT;
  const { browser, os, platform } = Bowser.parse(text);
  const device = (platform.type ?? '').toUpperCase();
  return {
    device: DEVICES.has(device) ? device : 'OTHER',
    browser: browser.name || null,
    os: os.name || null,
    isBot: device === 'BOT',
  };
}
