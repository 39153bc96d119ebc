import { html, type SafeHtml } from '../../../platform/html.ts';

/** Follow box of a page for its viewer. */
export interface FollowView {
  creator: { username: string; name: string };
  followers: number;
  /** Null for a signed-out page viewer, and for the creator. */
  form: { token: string; isFollowing: boolean } | null;
  /** Whether following is impossible: the viewer is the creator, or has no browser session. */
  isClosed: boolean;
  /** Path of the page, from the root of the site. */
  page: string;
}

const numbers = new Intl.NumberFormat('en');

/** Renders the follow form, which works without scripts, and the follower count. */
export function followView({ creator, followers, form, isClosed, page }: FollowView): SafeHtml {
  const count = `${numbers.format(followers)} ${followers === 1 ? 'follower' : 'followers'}`;
  return html`<div class="follow">${
    form === null
      ? !isClosed &&
        html`<a class="button" href="/dashboard/sign-in?back=${encodeURIComponent(page)}" aria-label="Sign in to follow ${creator.name}">Follow</a>`
      : followForm(creator, form, page)
  }<span class="follow-count">${count}</span></div>`;
}

function followForm(
  { username, name }: FollowView['creator'],
  { token, isFollowing }: { token: string; isFollowing: boolean },
  page: string,
): SafeHtml {
  const word = isFollowing ? 'Unfollow' : 'Follow';
  return html`<form method="post" action="/@${username}/${word.toLowerCase()}">
<input type="hidden" name="formToken" value="${token}">
<input type="hidden" name="back" value="${page}">
<button class="button${!isFollowing && html` main`}" type="submit" aria-label="${word} ${name}">${word}</button>
</form>`;
}
