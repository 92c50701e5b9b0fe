//! The workflow step in Rust, with the published client `queen-mq`: acknowledge the event, move the order from the version that
//! was read, push the next event, in one transaction. Checks itself and ends with a status other than 0 on any doubt.
//!
//!     LOCKSTEP_URL=http://localhost:6632 cargo run
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use queen_mq::{Expiry, Message, Queen, SeekRequest, SubscriptionMode, TransactionResponse, TxnPushItem};
use serde_json::json;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const GROUP: &str = "workflow";
const A_DAY: i64 = 86_400;

/// One run, with names of its own, so that it says the same when it runs again.
#[derive(Clone)]
struct Run {
    queen: Queen,
    events: String,
    shipping: String,
    first: String,
    second: String,
    checks: Arc<Mutex<u32>>,
    readings: Arc<Mutex<u32>>,
}

impl Run {
    fn new(url: String) -> Result<Self, Failure> {
        let run = format!("{:x}", SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros());
        Ok(Self {
            queen: Queen::connect_to(url)?,
            events: format!("rust-order-events-{run}"),
            shipping: format!("rust-shipping-{run}"),
            first: format!("order-{run}-1"),
            second: format!("order-{run}-2"),
            checks: Arc::default(),
            readings: Arc::default(),
        })
    }

    fn check(&self, holds: bool, fact: &str) -> Result<(), Failure> {
        if !holds {
            return Err(format!("not so: {fact}").into());
        }
        *self.checks.lock().expect("one thread counts") += 1;
        println!("  ok: {fact}");
        Ok(())
    }

    /// The step itself. `version` is the one the decision was made on; success is false when the order has moved.
    async fn commit_step(&self, event: &Message, version: i64, shipping_id: &str) -> Result<TransactionResponse, Failure> {
        let order_id = order_of(event);
        let shipping = self
            .queen
            .kv()
            .put("orders", &order_id, json!({ "status": "shipping" }), Expiry::seconds(A_DAY))
            .expect(version)
            .required()
            .operation()?;
        let next = TxnPushItem {
            queue: self.shipping.clone(),
            partition: Some(order_id.clone()),
            payload: json!({ "orderId": order_id }),
            transaction_id: Some(shipping_id.to_string()),
            trace_id: None,
        };
        Ok(self.queen.transaction().ack(event).kv(shipping).push_item(next)?.commit().await?)
    }

    async fn handle(&self, event: &Message) -> Result<String, Failure> {
        let order_id = order_of(event);
        let (status, version) = self.order(&order_id).await?;
        if status != "paid" {
            let verdict = self.queen.ack(event).await?;
            return Ok(if verdict.success { "known" } else { "refused" }.to_string());
        }
        // The work of the step goes here: charge the card, book the courier.
        let result = self.commit_step(event, version, &format!("ship-{order_id}")).await?;
        Ok(if result.success { "moved".to_string() } else { result.reason.unwrap_or_default() })
    }

    async fn order(&self, order_id: &str) -> Result<(String, i64), Failure> {
        let found = self.queen.kv().get("orders", order_id).await?;
        let value = found.value.ok_or("the order is not there")?;
        let status = value["status"].as_str().unwrap_or_default().to_string();
        Ok((status, found.version.ok_or("the order has no version")?))
    }

    async fn accept_order(&self, order_id: &str) -> Result<i64, Failure> {
        let paid = json!({ "status": "paid" });
        let put = self.queen.kv().put("orders", order_id, paid, Expiry::seconds(A_DAY)).expect(0).send().await?;
        Ok(put.version.ok_or("the order has no version")?)
    }

    async fn publish(&self, partition: &str, order_id: &str) -> Result<(), Failure> {
        let payload = json!({ "orderId": order_id });
        self.queen.queue(&self.events).partition(partition).push(payload).await?;
        Ok(())
    }

    async fn consume_one(&self) -> Result<String, Failure> {
        let said: Arc<Mutex<Option<String>>> = Arc::default();
        let (run, heard) = (self.clone(), said.clone());
        self.queen
            .queue(&self.events)
            .group(GROUP)
            .subscription_mode(SubscriptionMode::All)
            .auto_ack(false)
            .limit(1)
            .idle(Duration::from_secs(20))
            .consume(move |event: Message| {
                let (run, heard) = (run.clone(), heard.clone());
                async move {
                    let answer = run.handle(&event).await?;
                    *heard.lock().expect("one thread listens") = Some(answer);
                    Ok::<_, Failure>(())
                }
            })
            .await?;
        let answer = said.lock().expect("one thread listens").take();
        Ok(answer.unwrap_or_else(|| "nothing came".to_string()))
    }

    async fn take_one(&self) -> Result<Message, Failure> {
        let events = self.queen.queue(&self.events).group(GROUP).subscription_mode(SubscriptionMode::All);
        let taken = events.batch(1).partitions(1).wait(true).pop().await?;
        taken.into_iter().next().ok_or_else(|| "an event was expected and none came".into())
    }

    /// All of them, each time: a group that is new reads the queue from its start and takes nothing from anybody.
    async fn shipping_events(&self) -> Result<Vec<Message>, Failure> {
        let reader = {
            let mut readings = self.readings.lock().expect("one thread counts");
            *readings += 1;
            format!("reader-{readings}")
        };
        let shipping = self.queen.queue(&self.shipping).group(reader).subscription_mode(SubscriptionMode::All);
        Ok(shipping.batch(100).partitions(10).wait(false).pop().await?)
    }
}

fn order_of(event: &Message) -> String {
    event.data["orderId"].as_str().unwrap_or_default().to_string()
}

async fn one_step(run: &Run) -> Result<i64, Failure> {
    let paid = run.accept_order(&run.first).await?;
    run.publish(&run.first, &run.first).await?;
    run.check(run.consume_one().await? == "moved", "the step moved the order")?;
    let (status, version) = run.order(&run.first).await?;
    run.check(status == "shipping" && version > paid, "the order is shipping, at a later version")?;
    let shipped = run.shipping_events().await?;
    let expected = format!("ship-{}", run.first);
    run.check(shipped.len() == 1 && shipped[0].transaction_id == expected, "one shipping event was pushed")?;
    run.check(shipped[0].partition == run.first, "it is in the order's own partition")?;
    Ok(paid)
}

async fn redelivered(run: &Run) -> Result<(), Failure> {
    let before = run.order(&run.first).await?;
    let start = SeekRequest { timestamp: Some("2000-01-01T00:00:00Z".into()), ..Default::default() };
    run.queen.admin().seek_consumer_group(GROUP, &run.events, &start).await?;
    run.check(run.consume_one().await? == "known", "the redelivered event was only acknowledged")?;
    run.check(run.order(&run.first).await? == before, "it did not write the order again")?;
    run.check(run.shipping_events().await?.len() == 1, "it pushed nothing")
}

async fn race(run: &Run) -> Result<(), Failure> {
    run.accept_order(&run.second).await?;
    for desk in ["a", "b"] {
        run.publish(&format!("{}-{desk}", run.second), &run.second).await?;
    }
    let (a, b) = (run.take_one().await?, run.take_one().await?);
    // Both have read the order before either commits.
    let (_, version) = run.order(&run.second).await?;
    let id = format!("ship-{}", run.second);
    let (of_a, of_b) = tokio::join!(run.commit_step(&a, version, &id), run.commit_step(&b, version, &id));
    let (of_a, of_b) = (of_a?, of_b?);
    run.check(of_a.success != of_b.success, "of two workers with the same version one won")?;
    let (lost, event) = if of_a.success { (of_b, b) } else { (of_a, a) };
    run.check(lost.reason.as_deref() == Some("kv_precondition"), "the other was told that the order had moved")?;
    run.check(run.handle(&event).await? == "known", "its event was still its own to acknowledge")?;
    let shipped = run.shipping_events().await?;
    let ours = shipped.iter().filter(|event| order_of(event) == run.second).count();
    run.check(ours == 1, "one shipping event came of the two")
}

async fn old_version(run: &Run, paid: i64) -> Result<(), Failure> {
    let before = run.order(&run.first).await?;
    run.publish(&run.first, &run.first).await?;
    let event = run.take_one().await?;
    let result = run.commit_step(&event, paid, &format!("ship-again-{}", run.first)).await?;
    let refused = !result.success && result.reason.as_deref() == Some("kv_precondition");
    run.check(refused, "the step from the old version was refused")?;
    run.check(run.order(&run.first).await? == before, "it did not write the order")?;
    run.check(run.shipping_events().await?.len() == 2, "it pushed nothing")?;
    let verdict = run.queen.ack(&event).await?;
    run.check(verdict.success && !verdict.noop, "it acknowledged nothing")
}

async fn all(run: &Run) -> Result<(), Failure> {
    let paid = one_step(run).await?;
    redelivered(run).await?;
    race(run).await?;
    old_version(run, paid).await?;
    for queue in [&run.events, &run.shipping] {
        run.queen.queue(queue).delete().await?;
    }
    run.queen.close().await?;
    println!("PASS: {} checks", *run.checks.lock().expect("one thread counts"));
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    let url = std::env::var("LOCKSTEP_URL").unwrap_or_else(|_| "http://localhost:6632".to_string());
    let outcome = match Run::new(url) {
        Ok(run) => all(&run).await,
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("FAIL: {failure}");
            ExitCode::FAILURE
        }
    }
}
