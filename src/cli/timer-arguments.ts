// How the commands about one timer name it.

export const TIMER_ARGUMENTS = [
  { name: 'queue', meaning: 'The queue that it will push to.' },
  { name: 'key', meaning: 'The key of the timer.' },
] as const
