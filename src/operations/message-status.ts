// Reads the status a message stands at from the database's text.
import type { MessageStatus } from '../protocol/found-message.ts'

const STATUSES: readonly MessageStatus[] = ['pending', 'processing', 'completed', 'dead_letter']

export const messageStatus = (text: string | null | undefined): MessageStatus =>
  STATUSES.find((status) => status === text) ?? 'pending'
