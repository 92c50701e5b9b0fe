// Called when a group was moved or forgotten: its looks begin anew, and whoever waits for it is looked for.
import type { Traffic } from './traffic.ts'

/** A queue of null: the group on every queue. */
export function groupMoved(traffic: Traffic, queue: string | null, group: string): void {
  if (queue === null) {
    traffic.floors.clear()
    traffic.parking.ringAll()
  } else {
    traffic.floors.forget(queue, group)
    traffic.committed(queue)
  }
}
