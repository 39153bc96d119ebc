import { html, type SafeHtml } from '../../../platform/html.ts';
import { toMessage } from './messages.ts';
import { mayGuestWrite, NAME_MAX, type RestrictedMode } from './rules.ts';
import { type ChatMessage, TEXT_MAX } from './schemas.ts';
import type { ChatSnapshot } from './service.ts';

/**
 * Returns the notice of the panel when writing is restricted; the page's script has the same texts
 * (`web/chat/panel.ts`).
 */
function noticeOf(
  { settings, creatorName }: ChatSnapshot,
  entitledModes: readonly RestrictedMode[],
): string | null {
  if (mayGuestWrite(settings.chatMode, entitledModes)) return null;
  switch (settings.chatMode) {
    case 'OPEN':
      return null;
    case 'FOLLOWERS':
      return `Only followers of ${creatorName} can post messages.`;
    case 'TIER':
      return `Only members of ${creatorName} can post messages.`;
    case 'OFF':
      return 'Chat is disabled.';
  }
}

/**
 * Renders the chat next to the player. It can be read before a script runs; writing needs the script.
 *
 * @param suffix the token that admitted the visitor, as a query string.
 */
export function chatPanel(
  streamId: string,
  suffix: string,
  { recent, entitledModes }: { recent: ChatSnapshot; entitledModes: readonly RestrictedMode[] },
): SafeHtml {
  const { messages, eventId, settings } = recent;
  const notice = noticeOf(recent, entitledModes);
  return html`<section class="chat" aria-labelledby="chat-heading" data-chat="/live/${streamId}/chat" data-stream="${streamId}" data-suffix="${suffix}" data-event-id="${eventId}" data-mode="${settings.chatMode}" data-slow="${settings.slowModeSec}" data-creator="${recent.creatorName}" data-entitled="${entitledModes.join(' ')}">
<h2 id="chat-heading">Chat</h2>
<div class="chat-list" role="log" aria-label="Messages" aria-live="polite" aria-relevant="additions" tabindex="0">
${messages.filter(({ row }) => row.deleted_at === null).map((one) => item(toMessage(one)))}</div>
<p class="chat-notice" role="status"${notice === null && html` hidden`}>${notice}</p>
<form class="chat-name" hidden>
<label for="chat-name">Your name in this chat</label>
<span class="chat-row"><input id="chat-name" name="name" maxlength="${NAME_MAX}" autocomplete="nickname" required><button class="button" type="submit">Join</button></span>
</form>
<form class="chat-write" hidden>
<label for="chat-text">Message as <bdi class="chat-me"></bdi> <button type="button" class="chat-rename">Change name</button></label>
<span class="chat-row"><textarea id="chat-text" name="text" rows="1" maxlength="${TEXT_MAX * 2}" required></textarea><button class="button" type="submit">Send</button></span>
</form>
<noscript><p>Enable JavaScript to post messages.</p></noscript>
</section>`;
}

function item({ id, kind, author, text, createdAt }: ChatMessage): SafeHtml {
  if (kind === 'SYSTEM') {
    return html`<div data-id="${id}" class="chat-system"><span class="chat-text">${text}</span></div>
`;
  }
  const isCreator = author.badges.includes('CREATOR');
  return html`<div data-id="${id}" data-author="${author.id}"><span class="chat-by"><bdi class="chat-author">${author.displayName}</bdi>${isCreator && html` <span class="badge">Creator</span>`} <time datetime="${createdAt}" data-style="relative"></time></span><span class="chat-text" dir="auto">${text}</span></div>
`;
}
