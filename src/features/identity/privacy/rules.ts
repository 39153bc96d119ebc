/** What is running of what others have of a creator, in numbers. */
export interface OutstandingSales {
  soldSubscriptions: number;
  comingBookings: number;
  /** Of tiers and videos, who are asked for the money just now. */
  payingBuyers: number;
}

/** What is running of the person's own. */
export interface OwnCommitments {
  teamMembers: number;
  boughtSubscriptions: number;
  bookedTimes: number;
  ownPayments: number;
  isLastAdmin: boolean;
}

/** Each with how it ends. */
export function describeOutstandingSales(running: OutstandingSales): string[] {
  return counted([
    [running.soldSubscriptions, 'subscriptions of your members (end them in Monetization)'],
    [running.comingBookings, 'upcoming bookings (cancel them in Booking)'],
    [running.payingBuyers, 'checkouts in progress (wait half an hour)'],
  ]);
}

/** Each with how it ends. */
export function describeOwnCommitments(running: OwnCommitments): string[] {
  const names = counted([
    [running.teamMembers, 'members of your team (remove them in Team)'],
    [running.boughtSubscriptions, 'subscriptions to other creators (end them on their member pages)'],
    [running.bookedTimes, 'bookings with other creators (cancel them with the links in the emails)'],
    [running.ownPayments, 'payments to other creators in progress (cancel them, or wait half an hour)'],
  ]);
  if (running.isLastAdmin) names.push('the only administrator of this platform (appoint another one)');
  return names;
}

function counted(lines: readonly (readonly [count: number, what: string])[]): string[] {
  return lines.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []));
}

/** Below the files of the workspace, so that they go with it. @param id of one archive; none: of all. */
export function exportKey(workspaceId: string, id: string): string {
  return `${exportFolder(workspaceId)}${id}.zip`;
}

/** With a slash at the end. */
export function exportFolder(workspaceId: string): string {
  return `w/${workspaceId}/exports/`;
}
