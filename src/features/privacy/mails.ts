/** Tells of the deletion of an account, and how it is kept. */
export function deletedMail(to: string, { dueAt, link }: { dueAt: Date; link: string }) {
  return {
    kind: 'account-deleted',
    to,
    subject: 'Your account has been deleted',
    text: `You have deleted your Marquee account. Nobody sees it any more, and its API keys have ended.

On ${dueAt.toISOString().slice(0, 10)} everything of it is erased: videos, streams, people, numbers, mails. Only the books of what was paid stay, without names.

If you want it back, open this link before then:

${link}
`,
  };
}

/** The archive of an account can be fetched. */
export function exportReadyMail(to: string, { url, expiresAt }: { url: string; expiresAt: Date }) {
  return {
    kind: 'account-export',
    to,
    subject: 'Your data export is ready',
    text: `The archive that you asked for has everything of your Marquee account. Whoever has this link can fetch it until ${expiresAt.toISOString().slice(0, 10)}:

${url}
`,
  };
}
