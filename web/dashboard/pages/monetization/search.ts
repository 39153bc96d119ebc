/** What the address of a list says that is made and changed in place: which form is open. */
export interface FormSearch {
  new?: true;
  edit?: string;
}

export function formSearch(search: Record<string, unknown>): FormSearch {
  if (search.new === true) return { new: true };
  return typeof search.edit === 'string' ? { edit: search.edit } : {};
}
