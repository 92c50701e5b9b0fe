# The workflow step in Python, with the published client `queen-mq`: acknowledge the event, move the order from the version
# that was read, push the next event, in one transaction. Checks itself and ends with a status other than 0 on any doubt.
#
#   LOCKSTEP_URL=http://localhost:6632 python workflow.py
import asyncio
import os
import sys
import time
from datetime import timedelta

from queen import Queen

URL = os.environ.get("LOCKSTEP_URL", "http://localhost:6632")
# Names of this run's own, so that it says the same when it runs again.
RUN = f"{time.time_ns() // 1000:x}"
EVENTS = f"python-order-events-{RUN}"
SHIPPING = f"python-shipping-{RUN}"
GROUP = "workflow"
FIRST, SECOND = f"order-{RUN}-1", f"order-{RUN}-2"

checks = 0
readings = 0


def check(holds: bool, fact: str) -> None:
    global checks
    if not holds:
        raise AssertionError(f"not so: {fact}")
    checks += 1
    print(f"  ok: {fact}")


async def commit_step(queen, event, version, shipping_id):
    """The step itself. `version` is the one the decision was made on; the answer is false when the order has moved."""
    order_id = event["data"]["orderId"]
    return await (
        queen.transaction()
        .ack(event, "completed", {"consumer_group": GROUP})
        .kv.put("orders", order_id, {"status": "shipping"}, ttl=timedelta(days=1), expect=version, required=True)
        .queue(SHIPPING)
        .partition(order_id)
        .push([{"transactionId": shipping_id, "data": {"orderId": order_id}}])
        .commit()
    )


async def handle(queen, event) -> str:
    order_id = event["data"]["orderId"]
    order = await queen.kv.get("orders", order_id)
    if order["value"]["status"] != "paid":
        verdict = await queen.ack(event, "completed", {"group": GROUP})
        return "known" if verdict["success"] else "refused"
    # The work of the step goes here: charge the card, book the courier.
    result = await commit_step(queen, event, order["version"], f"ship-{order_id}")
    return "moved" if result else result["reason"]


async def accept_order(queen, order_id: str):
    return (await queen.kv.put("orders", order_id, {"status": "paid"}, ttl=timedelta(days=1), expect=0))["version"]


async def publish(queen, partition: str, order_id: str) -> None:
    await queen.queue(EVENTS).partition(partition).push([{"data": {"orderId": order_id}}])


async def consume_one(queen) -> str:
    said = []

    async def on_event(event):
        said.append(await handle(queen, event))

    consumer = queen.queue(EVENTS).group(GROUP).subscription_mode("all").auto_ack(False).each()
    await consumer.limit(1).idle_millis(20_000).consume(on_event)
    return said[0] if said else "nothing came"


async def take_one(queen):
    taken = await queen.queue(EVENTS).group(GROUP).subscription_mode("all").batch(1).partitions(1).wait(True).pop()
    if len(taken) != 1:
        raise AssertionError("an event was expected and none came")
    return taken[0]


async def shipping_events(queen):
    """All of them, each time: a group that is new reads the queue from its start and takes nothing from anybody."""
    global readings
    readings += 1
    reader = queen.queue(SHIPPING).group(f"reader-{readings}").subscription_mode("all")
    return await reader.batch(100).partitions(10).wait(False).pop()


async def one_step(queen) -> int:
    paid = await accept_order(queen, FIRST)
    await publish(queen, FIRST, FIRST)
    check(await consume_one(queen) == "moved", "the step moved the order")
    order = await queen.kv.get("orders", FIRST)
    check(order["value"]["status"] == "shipping" and order["version"] > paid, "the order is shipping, at a later version")
    shipped = await shipping_events(queen)
    check([event["transactionId"] for event in shipped] == [f"ship-{FIRST}"], "one shipping event was pushed")
    check(shipped[0]["partition"] == FIRST, "it is in the order's own partition")
    return paid


async def redelivered(queen) -> None:
    before = await queen.kv.get("orders", FIRST)
    await queen.admin.seek_consumer_group(GROUP, EVENTS, {"timestamp": "2000-01-01T00:00:00Z"})
    check(await consume_one(queen) == "known", "the redelivered event was only acknowledged")
    after = await queen.kv.get("orders", FIRST)
    check(after["version"] == before["version"], "it did not write the order again")
    check(len(await shipping_events(queen)) == 1, "it pushed nothing")


async def race(queen) -> None:
    await accept_order(queen, SECOND)
    for desk in ("a", "b"):
        await publish(queen, f"{SECOND}-{desk}", SECOND)
    events = [await take_one(queen), await take_one(queen)]
    # Both have read the order before either commits.
    version = (await queen.kv.get("orders", SECOND))["version"]
    results = await asyncio.gather(*(commit_step(queen, event, version, f"ship-{SECOND}") for event in events))
    check(sorted(bool(result) for result in results) == [False, True], "of two workers with the same version one won")
    lost = next(place for place, result in enumerate(results) if not result)
    check(results[lost]["reason"] == "kv_precondition", "the other was told that the order had moved")
    check(await handle(queen, events[lost]) == "known", "its event was still its own to acknowledge")
    ours = [event for event in await shipping_events(queen) if event["data"]["orderId"] == SECOND]
    check(len(ours) == 1, "one shipping event came of the two")


async def old_version(queen, paid: int) -> None:
    before = await queen.kv.get("orders", FIRST)
    await publish(queen, FIRST, FIRST)
    event = await take_one(queen)
    result = await commit_step(queen, event, paid, f"ship-again-{FIRST}")
    check(not result and result["reason"] == "kv_precondition", "the step from the old version was refused")
    after = await queen.kv.get("orders", FIRST)
    check((after["value"], after["version"]) == (before["value"], before["version"]), "it did not write the order")
    check(len(await shipping_events(queen)) == 2, "it pushed nothing")
    verdict = await queen.ack(event, "completed", {"group": GROUP})
    check(verdict["success"] and verdict["noop"] is False, "it acknowledged nothing")


async def main() -> int:
    queen = Queen(url=URL)
    try:
        paid = await one_step(queen)
        await redelivered(queen)
        await race(queen)
        await old_version(queen, paid)
        for name in (EVENTS, SHIPPING):
            await queen.queue(name).delete()
        print(f"PASS: {checks} checks")
        return 0
    except Exception as error:
        print(f"FAIL: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    finally:
        await queen.close()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
