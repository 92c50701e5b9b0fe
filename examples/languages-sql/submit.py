"""Python: an order and its workflow in one transaction of psycopg's own. Needs: pip install "psycopg[binary]"."""

from __future__ import annotations

import json
import os
import sys

import psycopg


def submit_order(connection: psycopg.Connection, order_id: int, fail: bool = False) -> str:
    """Both commit, or neither."""
    with connection.transaction():
        connection.execute("insert into orders values (%s, 'pending')", (order_id,))
        row = connection.execute(
            "select run_id from lockstep.submit('fulfil_order', %s, p_key => %s)",
            (json.dumps({"orderId": order_id}), f"order-{order_id}"),
        ).fetchone()
        run_id = str(row[0])
        if fail:
            print("submitted", run_id)
            raise RuntimeError("the order cannot be taken")
    return run_id


def state_of(connection: psycopg.Connection, run_id: str) -> str | None:
    row = connection.execute("select state from lockstep.run_status(%s)", (run_id,)).fetchone()
    return None if row is None else row[0]


def main() -> int:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("create table if not exists orders (id int primary key, status text not null)")
        run_id = submit_order(connection, 11)
        print("run", run_id, state_of(connection, run_id))
        try:
            submit_order(connection, 12, fail=True)
        except RuntimeError as error:
            print("rolled back:", error)
        with connection.transaction():
            job = connection.execute(
                "select run_id from lockstep.enqueue('remind', %s, p_delay => interval '1 hour')",
                (json.dumps({"orderId": 11}),),
            ).fetchone()[0]
        print("job", job, state_of(connection, str(job)))
        orders = connection.execute("select count(*) from orders where id > 10").fetchone()[0]
        print("orders", orders)
    return 0


if __name__ == "__main__":
    sys.exit(main())
