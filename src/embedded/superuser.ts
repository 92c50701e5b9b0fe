// The name of the superuser of every embedded server.

export const SUPERUSER = 'postgres'
