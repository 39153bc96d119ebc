/** Returns the email about the deletion of an account with the link to cancel it. */
export function accountDeletedEmail(to: string, { dueAt, link }: { dueAt: Date; link: string }) {
  return {
    kind: 'account-deleted',
    to,
    subject: 'Your account has been deleted',
    text: `You have deleted your Marquee account. It is no longer visible, and its API keys no longer work.

On ${dueAt.toISOString().slice(0, 10)} all of its data will be erased: videos, streams, people, analytics and emails. Only payment records are retained, without names.

To restore it, open this link before then:

${link}
`,
  };
}

/** Returns the email with the link to a finished export. */
export function exportReadyEmail(to: string, { url, expiresAt }: { url: string; expiresAt: Date }) {
  return {
    kind: 'account-export',
    to,
    subject: 'Your data export is ready',
    text: `The archive you requested contains all data of your Marquee account. Anyone with this link can download it until ${expiresAt.toISOString().slice(0, 10)}:

${url}
`,
  };
}
