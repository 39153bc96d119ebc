import Bowser from 'bowser';
import { isbot } from 'isbot';

/** Device and software of a viewer. */
export interface UserAgentInfo {
  device: string;
  browser: string | null;
  os: string | null;
  isBot: boolean;
}

const DEVICES: ReadonlySet<string> = new Set(['DESKTOP', 'MOBILE', 'TABLET', 'TV', 'BOT']);
const BOT: UserAgentInfo = { device: 'BOT', browser: null, os: null, isBot: true };
/** Maximum parsed length; the rest of a longer text is ignored. */
const MAX_USER_AGENT_LENGTH = 500;
/** Maximum cached user agents, about 2 MB. */
const MAX_CACHED_AGENTS = 4000;

/**
 * Creates the parser of `User-Agent`; a maintained list identifies bots. A missing header counts as a bot.
 */
export function createUserAgentParser(): (userAgent: string) => UserAgentInfo {
  /**
   * Cache, because parsing takes 100 µs and many viewers share a few agents. The longest unseen comes first.
   */
  const known = new Map<string, UserAgentInfo>();
  return (userAgent) => {
    const text = userAgent.slice(0, MAX_USER_AGENT_LENGTH);
    const agent = known.get(text) ?? agentOf(text);
    known.delete(text);
    known.set(text, agent);
    if (known.size > MAX_CACHED_AGENTS) {
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
