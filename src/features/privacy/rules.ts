/** What is running of what others have of a creator, in numbers. */
export interface Sold {
  soldSubscriptions: number;
  comingBookings: number;
  /** Of tiers and videos, who are asked for the money just now. */
  payingBuyers: number;
}

/** What is running of the person's own. */
export interface Own {
  teamMembers: number;
  boughtSubscriptions: number;
  bookedTimes: number;
  ownPayments: number;
  isLastAdmin: boolean;
}

/** Each with how it ends. */
export function namesOfSold(running: Sold): string[] {
  return counted([
    [running.soldSubscriptions, 'subscriptions of your members (end them in Monetization)'],
    [running.comingBookings, 'coming bookings (cancel them in Booking)'],
    [running.payingBuyers, 'buyers who pay just now (wait for half an hour)'],
  ]);
}

/** Each with how it ends. */
export function namesOfOwn(running: Own): string[] {
  const names = counted([
    [running.teamMembers, 'members of your team (remove them in Team)'],
    [running.boughtSubscriptions, 'subscriptions to other creators (end them on their member pages)'],
    [running.bookedTimes, 'times booked with other creators (cancel them by the link in their mails)'],
    [running.ownPayments, 'payments to other creators under way (end them, or wait for half an hour)'],
  ]);
  if (running.isLastAdmin) names.push('the only administrator of this platform (name another one)');
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
