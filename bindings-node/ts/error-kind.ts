/** What kind of error a call ended with. */

/**
 * What kind of error a call ended with. A model reads sentences; a program should look at this.
 * The words are the same in every language, and are explained in the documentation of memdir
 * ("kinds of errors").
 */
export type ErrorKind =
  | 'not_found'
  | 'exists'
  | 'is_a_directory'
  | 'not_a_directory'
  | 'invalid'
  | 'no_match'
  | 'several_matches'
  | 'not_text'
  | 'read_only'
  | 'permission_denied'
  | 'fixed'
  | 'too_large'
  | 'full'
  | 'sensitive'
  | 'stale'
  | 'changed'
  | 'denied'
  | 'busy'
  | 'cancelled'
  | 'unavailable'
  | 'outcome_unknown'
  | 'hook_failed'
  | 'config';
