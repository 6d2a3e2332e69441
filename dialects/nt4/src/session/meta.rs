//! The topics of a server about itself. They are made only while somebody listens to them.

use std::collections::{BTreeMap, BTreeSet};

use logpose_core::Value;
use serde_json::Value as Json;

use super::server::Nt4Server;
use super::topics::{Client, Topic};
use crate::model::put_json;
use crate::msgpack::{put_array, put_int, put_map, put_str};

/// They are made anew at most this often, in nanoseconds.
const META_EVERY: i64 = 100_000_000;
/// And for each name that is looked at and every 16 bytes that are made so much later, so that clients who change
/// something all the time take a part of a processor, not all of it.
const META_COST: i64 = 1_000;
/// Entries of one of them, and bytes of all: the lists grow with topics times subscriptions, and what is beyond these
/// is left out.
const META_ENTRIES: usize = 1_000;
const META_BYTES: usize = 16 << 20;

impl Nt4Server {
    /// Notes that their contents have changed.
    pub(super) fn mark_meta(&mut self) {
        if (!self.meta_interests.is_empty() || !self.meta.is_empty()) && self.meta_due.is_none() {
            self.meta_due = Some(self.meta_next.max(self.now));
        }
    }

    /// Makes them anew; what has not changed is not sent.
    pub(super) fn refresh_meta(&mut self) {
        let (wanted, work) = self.wanted();
        let work = i64::try_from(work).unwrap_or(i64::MAX).saturating_mul(META_COST);
        self.meta_next = self.now.plus(work.saturating_add(META_EVERY));
        let gone: Vec<String> = self.meta.keys().filter(|name| !wanted.contains_key(*name)).cloned().collect();
        for name in gone {
            self.meta.remove(&name);
            if let Some(id) = self.topics.id(&name) {
                self.delete(id);
            }
        }
        for (name, value) in wanted {
            let id = self.topics.id(&name).or_else(|| {
                self.meta.insert(name.clone(), Vec::new());
                self.create(Topic::meta(&name), None)
            });
            let Some(id) = id else { continue };
            if self.meta.get(&name) != Some(&value) {
                self.put(id, None, self.server_time(), &Value::Bytes(&value));
                self.meta.insert(name, value);
            }
        }
        // Only now, for deleting a topic is a change, too.
        self.meta_due = None;
    }

    /// The topics that somebody listens to, their values, and how much work it was to make them.
    fn wanted(&self) -> (BTreeMap<String, Vec<u8>>, usize) {
        let (mut all, mut bytes, mut work) = (BTreeMap::new(), 0, 0);
        if self.meta_interests.is_empty() {
            return (all, work);
        }
        let clients = || self.clients.iter().flatten();
        let mut add = |name: String, value: &dyn Fn() -> Vec<u8>| {
            work += 1;
            if bytes < META_BYTES && self.meta_interests.matches(&name) {
                let value = value();
                bytes += value.len();
                // For one of them every client is looked at.
                work += value.len() / 16 + self.clients.len();
                all.insert(name, value);
            }
        };
        let speaking = || clients().filter(|client| client.speaks);
        add("$clients".to_owned(), &|| list(speaking(), client_entry));
        add("$serversub".to_owned(), &|| list(std::iter::empty::<()>(), |(), _| {}));
        add("$serverpub".to_owned(), &|| {
            let own = (0_i64..).zip(&self.own).filter_map(|(uid, own)| Some((uid, own.as_ref()?)));
            list(own.filter(|(_, own)| own.topic.is_some()), |(uid, own), out| publisher_entry(uid, &own.name, out))
        });
        for client in speaking() {
            add(format!("$clientpub${}", client.name), &|| {
                list(client.publishers.iter(), |(uid, topic), out| {
                    let name = self.topics.get(*topic).map_or("", |topic| &topic.name);
                    publisher_entry((*uid).into(), name, out);
                })
            });
            add(format!("$clientsub${}", client.name), &|| {
                list(client.subscriptions.iter(), |(uid, subscription), out| {
                    put_map(3, out);
                    entry("uid", &Json::from(*uid), out);
                    entry("topics", &Json::from(subscription.topics.clone()), out);
                    entry("options", &Json::Object(subscription.options.to_json()), out);
                })
            });
        }
        for topic in self.topics.iter().filter(|topic| !topic.meta) {
            add(format!("$pub${}", topic.name), &|| {
                list(topic.publishers.iter(), |publisher, out| {
                    let client = publisher.slot.and_then(|slot| self.clients.get(slot)?.as_ref());
                    put_map(2, out);
                    entry("client", &Json::from(client.map_or("", |client| &client.name)), out);
                    entry("pubuid", &Json::from(publisher.uid), out);
                })
            });
            add(format!("$sub${}", topic.name), &|| {
                let matching = clients().flat_map(|client| {
                    let mut uids = BTreeSet::new();
                    client.interests.matching(&topic.name, |interest| {
                        uids.extend(interest.keys.iter().take(META_ENTRIES));
                    });
                    uids.into_iter().filter_map(move |uid| Some((client, uid, client.subscriptions.get(uid)?)))
                });
                list(matching, |(client, uid, s), out| {
                    put_map(3, out);
                    entry("client", &Json::from(client.name.as_str()), out);
                    entry("subuid", &Json::from(*uid), out);
                    entry("options", &Json::Object(s.options.to_json()), out);
                })
            });
        }
        (all, work)
    }
}

fn list<T>(all: impl Iterator<Item = T>, put: impl Fn(T, &mut Vec<u8>)) -> Vec<u8> {
    let mut entries = Vec::new();
    let mut count = 0;
    for item in all.take(META_ENTRIES) {
        put(item, &mut entries);
        count += 1;
    }
    let mut out = Vec::new();
    put_array(count, &mut out);
    out.extend_from_slice(&entries);
    out
}

fn entry(key: &str, value: &Json, out: &mut Vec<u8>) {
    put_str(key.as_bytes(), out);
    put_json(value, out);
}

fn client_entry(client: &Client, out: &mut Vec<u8>) {
    put_map(2, out);
    entry("id", &Json::from(client.name.as_str()), out);
    entry("conn", &Json::from(client.address.as_str()), out);
}

fn publisher_entry(uid: i64, topic: &str, out: &mut Vec<u8>) {
    put_map(2, out);
    put_str(b"uid", out);
    put_int(uid, out);
    entry("topic", &Json::from(topic), out);
}
